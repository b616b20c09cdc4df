import type { Feature } from './feature.js';
import type { VitalsLabels } from './types.js';

/** What `web-vitals` has measured: one event as the page is left, and another one if more comes later. */
export const vitals: Feature<VitalsLabels> = (tell, labels, page) => {
  /** The page that is measured, once it was left for another route. */
  let measured: object | undefined;
  let found: Record<string, number> | undefined;
  for (const key of Object.keys(labels) as (keyof VitalsLabels & `on${string}`)[]) {
    if (!key.startsWith('on')) continue;
    labels[key]!(({ name, value }) => {
      (found ??= {})[name.toLowerCase()] = +value.toFixed(3);
    });
  }
  page.onRoute((from) => {
    // A page that comes back from the cache is measured anew.
    measured = from ? (measured ?? { path: from, title: page.title() }) : undefined;
  });
  page.onVisibility((isVisible) => {
    if (isVisible || !found) return;
    tell({ title: page.title(), ...measured, ...found });
    found = undefined;
  });
};
