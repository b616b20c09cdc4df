import { pageTags } from './page-tags.js';

/** What Umami hands to a function of the page. It throws on a server. */
export const pageProps = () => {
  const { title, referrer } = pageTags()!;
  const { href: url, hostname } = location;
  const { width, height } = screen;
  const { language } = navigator;
  return { url, title, referrer, hostname, language, screen: `${width}x${height}` };
};
