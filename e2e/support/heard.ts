import type { Listeners } from '../../src/client/types.js';
import type { Evaluates } from './evaluates.js';
import type { TagStyle } from './tagged.js';

const KEY = 'analytics-outbox.heard';
const TYPES: (keyof Listeners)[] = ['sent', 'outcome', 'drop', 'error', 'storage'];

/** How a page carries the tag that listens from the first moment: for `site.tagged`. */
export const listening: TagStyle = {
  // Not `async`: the tag could then run before the listeners are there.
  attributes: 'defer',
  body: `<script>{
  const heard = (window[Symbol.for('${KEY}')] = []);
  for (const type of ${JSON.stringify(TYPES)})
    analytics.on(type, (payload) => heard.push([type, structuredClone(payload)]));
}</script>`,
};

/** What a listening page's tracker has said of one kind so far. */
export const heard = async <Type extends keyof Listeners>(
  page: Evaluates,
  type: Type,
): Promise<Listeners[Type][]> => {
  const all = await page.evaluate(
    (key) => (window as unknown as Record<symbol, [string, unknown][]>)[Symbol.for(key)]!,
    KEY,
  );
  return all
    .filter(([heardType]) => heardType === type)
    .map(([, payload]) => payload as Listeners[Type]);
};
