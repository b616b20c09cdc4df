import { withoutQuery } from '../../capture/without-query.js';

/**
 * The path of an address, without its query: that may hold what is personal. The address may be a `Location`, whose own
 * `replace` leads the page elsewhere.
 */
export const pathOf = (address: unknown): string =>
  withoutQuery(String(address).replace(/^\w+:\/\/[^/?#]*/, '')) || '/';

/** By the prototype, since elements of the page can have these names. */
const read = (name: 'title' | 'referrer') =>
  Reflect.get(Document.prototype, name, document) as string;

/** The page's own address. Nothing on a server. */
export const pageAddress = (): string | undefined =>
  (globalThis.location as Location | undefined)?.href;

/** The tags of a page view; nothing on a server. */
export const pageTags = (): Record<'path' | 'title' | 'referrer', string> | undefined =>
  (globalThis.document as Document | undefined) && {
    path: withoutQuery(location.pathname),
    title: read('title'),
    referrer: withoutQuery(read('referrer')),
  };

/** What Umami hands to a function of the page. It throws on a server. */
export const pageProps = () => {
  const { title, referrer } = pageTags()!;
  const { href: url, hostname } = location;
  const { width, height } = screen;
  const { language } = navigator;
  return { url, title, referrer, hostname, language, screen: `${width}x${height}` };
};
