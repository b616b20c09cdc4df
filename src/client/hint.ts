import type { Hint } from './record/gather-tags.js';
import type { Emit } from './status.js';

/** Tells of slips in calls, of each only once, since a page makes the same call again and again. */
export const createHint = (emit: Emit): Hint => {
  const told = new Set<string>();
  return (message, what = message) => {
    if (!told.has(what)) emit('error', () => ({ kind: 'call', message }));
    told.add(what);
  };
};
