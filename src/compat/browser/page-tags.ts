/** The tags of a page view. Query strings may hold what is personal. */
export const pageTags = (): object => ({
  path: location.pathname,
  title: document.title,
  referrer: document.referrer.split('?')[0],
});
