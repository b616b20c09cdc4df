/**
 * A path, an address, or a text with addresses in it, without their queries and fragments, which may say more than where
 * they lead. Parameters of a path, such as `;jsessionid=…`, are a kind of query. Only white space ends a query: visitors
 * type quotes and brackets, too.
 */
export const withoutQuery = (text: string): string =>
  text.replace(/[?#]\S*|;[^\s/;=?#]*=[^\s/?#]*/g, '');

/** A text without the `user:password@` of addresses in it. */
export const withoutCredentials = (text: string): string =>
  // The pattern itself looks for no @, or it would read a long text without one again and again.
  text.replace(
    /(\/\/|:)([^\s/]*)/g,
    (_, start: string, rest: string) => start + rest.slice(rest.lastIndexOf('@') + 1),
  );
