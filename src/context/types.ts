import type { TagAnalytics } from '../client/types.js';

/** An instance, whatever its events; or the script tag's global. */
export interface Instance {
  on: TagAnalytics['on'];
  status: TagAnalytics['status'];
  event: (...args: never[]) => unknown;
}

/**
 * How long something is kept: in the memory of the page, in the tab (sessionStorage), or until the visitor clears
 * the site's data (localStorage).
 */
export type Keep = 'memory' | 'tab' | 'persistent';

/** What is known of an event already: the tags of its call, and the page's `path` and `title` if they were read then. */
export type Known = Readonly<Record<string, unknown>>;

/** A part of a context: given the instance, it answers with the function that is asked for tags at each event. */
export type Part = (analytics: Instance) => (known?: Known) => object;
