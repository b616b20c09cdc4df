import { withoutQuery } from '../capture/without-query.js';
import { drain } from './drain.js';
import { refuse } from './refuse.js';
import { createSegment } from './segment.js';
import type { SegmentAnalytics } from './segment.js';
import type { Target } from './target.js';

/** What the stub notes of the page at a call, from its version 5.2 on: path, title, referrer. */
interface Note {
  __t?: string;
  p: string;
  t: string;
  r: string;
}

type Call = [method: string, ...args: unknown[]];
type Methods = Record<string, (...args: unknown[]) => unknown>;

/** The snippet that Segment has sites put into their heads: an array of calls, with a method for each kind. */
type Stub = Call[] & { methods?: string[] };

const isObject = (value: unknown): boolean => !!value && typeof value === 'object';

/** Without the note. A page view counts for the page that was shown at the call. */
const withNote = (call: Call): Call => {
  const last = call[call.length - 1] as Partial<Note> | null | undefined;
  if (!last?.__t) return call;
  const { p: path, t: title, r: referrer } = last as Note;
  const [method, ...args] = call.slice(0, -1) as Call;
  if (method !== 'page') return [method, ...args];
  const at = args.findIndex(isObject);
  const noted = { path: withoutQuery(path), title, referrer: withoutQuery(referrer) };
  if (at < 0) args.push(noted);
  else args[at] = { ...noted, ...(args[at] as object) };
  return [method, ...args];
};

/**
 * Puts Segment's calls in the place of its stub, and makes those that wait in it, in their order. A part of the page
 * that has kept the stub, or a method of it, goes on with them. Where the page has no stub, it makes the global alone.
 * @throws TypeError where the global is something else than a stub.
 * @example takeOverSegment(analytics);
 */
export const takeOverSegment = (analytics: Target, global = 'analytics'): SegmentAnalytics => {
  const page = globalThis as unknown as Record<string, Stub>;
  const stub = (page[global] ??= []);
  if (!Array.isArray(stub)) {
    throw new TypeError(`window.${global} is not the stub of Segment: give the name of its global`);
  }
  const segment = createSegment(analytics) as unknown as Methods;
  const methods = stub as unknown as Methods;
  const refused = (name: string) => async () => refuse(analytics, name);
  for (const name of ['initialize', 'load', ...(stub.methods ?? [])]) {
    segment[name] ??= refused(name);
  }
  for (const name of Object.keys(segment)) {
    // Looked up at each call: `on` puts another in the place of a method.
    methods[name] = (...args) => segment[name]!(...args);
  }
  const run = (call: Call): void => {
    const [method, ...args] = withNote(call);
    (segment[method] ?? refused(method))(...args);
  };
  stub.sort(([a], [b]) => +(b === 'on') - +(a === 'on'));
  drain(Object.assign(stub, { initialized: true }), run);
  return stub as unknown as SegmentAnalytics;
};
