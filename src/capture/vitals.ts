import type { Feature } from './feature.js';
import type { VitalsLabels } from './types.js';

/** What `web-vitals` has measured: one event as the page is left, and another one if more comes later. */
export const vitals: Feature<VitalsLabels> = (tell, labels, page) => {
  /** The view that is measured: of a page that comes back from the cache, the one it comes back with. */
  let measured: object;
  let found: Record<string, number> | undefined;
  for (const key of Object.keys(labels) as (keyof VitalsLabels & `on${string}`)[]) {
    if (!key.startsWith('on')) continue;
    labels[key]!(({ name, value }) => {
      (found ??= {})[name.toLowerCase()] = +value.toFixed(3);
    });
  }
  page.onView((view, from) => {
    if (!from) measured = view;
  });
  page.onLeave(() => {
    if (!found) return;
    tell({ ...measured, ...found });
    found = undefined;
  });
};
