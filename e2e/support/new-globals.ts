import type { Evaluates } from './evaluates.js';
import { NAMES_AT_START } from './guest-script.js';

/** Playwright's own, and frames, which are reachable by their index. */
const isIgnored = (name: string): boolean => /^(__pw|__playwright|\d+$)/.test(name);

/** Names that the document's window has now and had not before its first script. */
export const newGlobals = async (frame: Evaluates): Promise<string[]> => {
  const names = await frame.evaluate((key) => {
    const before = (window as unknown as Record<symbol, string[] | undefined>)[Symbol.for(key)];
    // A document older than the guest, such as the empty one a page begins with.
    if (!before) return [];
    const known = new Set(before);
    return Object.getOwnPropertyNames(window).filter((name) => !known.has(name));
  }, NAMES_AT_START);
  return names.filter((name) => !isIgnored(name));
};
