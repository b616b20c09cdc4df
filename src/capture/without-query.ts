/*
 * The texts are other people's, and may be long or odd. So each pattern goes through a text once: it never begins again
 * inside what it has read.
 */

/** A path without its parameters, such as `;jsessionid=…`, which is a live session. They are a kind of query. */
export const withoutParameters = (path: string): string => path.replace(/;[^\s/;=]*=[^\s/]*/g, '');

/** A part of an address between slashes, without the `user:password@` in it. */
const withoutCredentials = (part: string, slashes = ''): string => {
  const start = slashes.length || part.indexOf(':') + 1;
  const end = part.lastIndexOf('@') + 1;
  return start && start < end ? part.slice(0, start) + part.slice(end) : part;
};

/**
 * A text with addresses in it, or an address, without their credentials, queries and fragments, which may say more
 * than where they lead. Only white space ends a query: visitors type quotes and brackets, too.
 */
export const withoutQuery = (text: string): string =>
  withoutParameters(text.replace(/(\/\/)?[^\s/]+/g, withoutCredentials).replace(/[?#]\S*/g, ''));
