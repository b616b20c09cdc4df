/**
 * The address that a relay's path is relative to. `document.baseURI` is the last choice, since a `<base>` may lead to
 * another site. A document without an address of its own (`about:blank`, `srcdoc`, `blob:`) has the origin of the page
 * that made it. If it is sandboxed as well, only that page's base is known.
 */
export const pageAddress = (): string =>
  [location.href, globalThis.origin, document.baseURI].find((address) =>
    /^https?:/.test(address),
  ) ?? '';

/** Whether requests to this address share their connections with the page itself. */
export const isOwnOrigin = (address: string): boolean => {
  try {
    const { URL } = globalThis; // a global `const URL` of the page would hide the browser's
    return new URL(address).origin === new URL(pageAddress()).origin;
  } catch {
    return false; // a page without an address
  }
};
