/**
 * What paths of this page are relative to. Not `document.baseURI`: a `<base>` may lead to another site.
 * Documents without an address of their own (`about:blank`, `srcdoc`, `blob:`) have the origin of the page
 * that made them; where they are sandboxed, too, only that page's base is known.
 */
export const pageAddress = (): string =>
  [location.href, globalThis.origin, document.baseURI].find((address) =>
    /^https?:/.test(address),
  ) ?? '';

/** Whether requests to this address share their connections with the page itself. */
export const isOwnOrigin = (address: string): boolean => {
  try {
    const { URL } = globalThis; // a page's own `const URL` hides the browser's
    return new URL(address).origin === new URL(pageAddress()).origin;
  } catch {
    return false; // a page without an address
  }
};
