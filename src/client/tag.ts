import { messageOf } from '../util/errors.js';
import type { Tell, Tracker } from './analytics.js';
import { mayFail } from '../util/may-fail.js';
import { isLocalHost, memberOf } from './page.js';
import { isText } from './options.js';
import { whenShown } from './life.js';
import type { Options } from './types.js';

type StubCall = [
  at: number,
  method: string,
  args: unknown[],
  done?: (value: unknown) => void,
  title?: string,
  path?: string,
];
type Methods = Record<string, (...args: unknown[]) => unknown>;

/** A stub keeps its calls. Our own global is marked, with what the developers' file is told. */
type Found = Record<string | symbol, unknown> & { calls?: StubCall[] };

export const OURS = Symbol.for('analytics-outbox');

/**
 * Reads the tag that loaded this script, takes the stub's place, and makes the calls that the stub has kept. Returns
 * the tracker; nothing if the tag was loaded twice, or its global is taken.
 * @param readOptions reads options from the tag's attributes, and from the page's globals that they name
 */
export const installTag = (
  createTracker: (tell?: Tell) => Tracker,
  readOptions: (
    dataset: DOMStringMap,
    globals: Record<string, unknown>,
    tracker: Tracker,
  ) => Partial<Options>,
): Tracker | undefined => {
  const globals = window as unknown as Record<string, unknown>;
  // A module has no current script.
  const tag =
    memberOf(document, 'currentScript') ??
    memberOf(document, 'querySelector').call(document, 'script[data-project]');
  const { src = '', dataset = {} } = (tag ?? {}) as Partial<HTMLScriptElement>;
  const name = dataset['global'] || 'analytics';
  // Only a real global counts: ids of elements are properties of `window`, too.
  const found = ((Object.hasOwn(globals, name) && globals[name]) || { calls: [] }) as Found;
  const steps: Parameters<Tell>[] = [['tag', tag]];
  const { calls } = found;
  const own = calls?.[0]?.[0];
  // Loaded twice, it runs once. The developers' file says so.
  if (found[OURS]) return void (found[OURS] as typeof steps).push(['twice', tag]);
  let tell: Tell | undefined;
  if (src && `${dataset['debug'] ?? isLocalHost()}` !== 'false') {
    tell = (...step) => steps.push(step);
    // Not by a new script element: a page that requires Trusted Types throws at its `src`.
    import(src.replace(/[^/]*$/, `outbox-dev.js?${name}`))
      // The browser's words name the file, which is to stand beside this one.
      .catch(console.error);
  }
  const take = () => ((globals[name] = found)[OURS] = steps);
  // Taken by another script, or frozen. The developers' file says so.
  if (!Array.isArray(calls) || !mayFail(take)) return undefined;
  const made = calls.splice(0);
  const tracker = createTracker(tell);
  const methods = Object.assign(found, tracker.analytics) as unknown as Methods;
  const run = ([at, method, args, done, title, path]: StubCall): number => {
    // An element may have the name `title`.
    tracker.sayAs({ at, seen: { title: isText(title) ? title : undefined, path } });
    try {
      const value = methods[method]!(...args);
      done?.(value);
    } catch (error) {
      // Wrong options. The developers' file says more.
      if (!tell) console.error(messageOf(error));
    }
    tracker.sayAs();
    return 0;
  };
  // If a page is left before the script has come, its stub keeps the calls in `sessionStorage`. A key is the time of the
  // first call, in 13 digits, followed by the names of the stub and of the project. If one of the texts cannot be read,
  // the others are taken all the same.
  const takeKept = () => {
    for (const key of Object.keys(sessionStorage).sort()) {
      if (key.slice(13) === name + dataset['project'])
        mayFail(() => {
          const kept = JSON.parse(sessionStorage[key] as string) as StubCall[];
          delete sessionStorage[key];
          if (kept[0]![0] !== own) kept.forEach(run); // this page's own are in memory
        });
    }
  };
  // To look costs 0.3 ms. In a frame it would take those of the page around it, which still has them, and a prerendered
  // page has a copy of those of its tab. The calls wait for `init`.
  if (globals['top'] === globals) whenShown(() => mayFail(takeKept));
  // Code that has kept a reference to the stub reaches the tracker through this `push`.
  calls.push = run;
  // Before `init`, which may use storage only with consent.
  for (const call of made) if (call[1] === 'setConsent') run(call);
  const options = readOptions(dataset, globals, tracker);
  if (Object.keys(options).length) run([Date.now(), 'init', [options]]);
  for (const call of made) if (call[1] !== 'setConsent') run(call);
  return tracker;
};
