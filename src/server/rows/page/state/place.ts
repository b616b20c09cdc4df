/** The address of the service as this page sees it, without a slash at its end: a proxy may have put a path in front. */
export const serviceAddress = (): string => new URL('.', location.href).href.slice(0, -1);

/** A tag as pages of the site have to write it: the service does not know under which path it is seen. */
export const tagHere = (tag: string): string =>
  tag.replace(/="\/(?!\/)/g, `="${new URL('.', location.href).pathname}`);
