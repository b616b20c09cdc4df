// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.test/cart" }
import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTracker } from '../../src/client/analytics.js';
import { FACTS } from '../../src/client/consent.js';
import { createDirectSend } from '../../src/client/delivery/send/direct.js';
import { readAttributes } from '../../src/client/options.js';
import { installTag, OURS } from '../../src/client/tag.js';
import { createDeveloper } from '../../src/dev/developer.js';
import { watchMethods } from '../../src/dev/methods.js';
import { createSay, cry } from '../../src/dev/say.js';
import { WRONG_ANSWERS } from './mistakes/answers.js';
import { MISTAKES_OF_CALLS } from './mistakes/calls.js';
import { MISTAKES_OF_OPTIONS } from './mistakes/options.js';
import { CALLS_OF_OTHER_TOOLS } from './mistakes/other-tools.js';
import { MISTAKES_OF_TAG } from './mistakes/tag.js';
import { MISSING, TAG, type Global, type Mistake } from './mistakes/mistake.js';

const MISTAKES: Record<string, Mistake> = {
  ...MISTAKES_OF_TAG,
  ...MISTAKES_OF_OPTIONS,
  ...MISTAKES_OF_CALLS,
  ...WRONG_ANSWERS,
  ...CALLS_OF_OTHER_TOOLS,
};

const globals = globalThis as unknown as Record<string, unknown>;
let lines: string[];
let known: string[];
/** Ends what a page before has listened to. */
let leaving: AbortController;

beforeEach(() => {
  known = Object.keys(globals);
  leaving = new AbortController();
  Reflect.deleteProperty(globalThis, FACTS);
  localStorage.clear();
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('IDBKeyRange', IDBKeyRange);
  lines = [];
  const note = (line: unknown) => {
    // Each engine has words of its own for a file that it cannot import.
    lines.push(typeof line === 'string' ? line.replace('analytics-outbox: ', '') : MISSING);
  };
  vi.spyOn(console, 'warn').mockImplementation(note);
  vi.spyOn(console, 'error').mockImplementation(note);
  const listen = document.addEventListener.bind(document);
  vi.spyOn(document, 'addEventListener').mockImplementation(((type: string, listener: never) =>
    listen(type, listener, { signal: leaving.signal })) as never);
});

afterEach(() => {
  leaving.abort();
  for (const name of Object.keys(globals)) if (!known.includes(name)) delete globals[name];
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** The page with its tag, whose developers' file has come: as `script-dev.ts` does it. */
const openPage = ({ tag = TAG, file = 'outbox.js', html = '', before }: Mistake) => {
  document.body.innerHTML = html;
  // In no document, since its file would be loaded there.
  const box = document.createElement('div');
  box.innerHTML = `<script src="https://shop.test/${file}" ${tag}></script>`;
  const script = box.querySelector('script')!;
  Object.defineProperty(Object.getPrototypeOf(document), 'currentScript', {
    configurable: true,
    get: () => script,
  });
  before?.(globals);
  const direct = /relay/.test(file) ? undefined : createDirectSend;
  installTag((tell) => createTracker(direct, tell), readAttributes);
  const analytics = globals[script.dataset['global'] ?? 'analytics'] as Global;
  const steps = (analytics as unknown as Record<symbol, [string, unknown][]>)[OURS]!;
  const say = createSay();
  const tell = createDeveloper({ say, refuse: cry });
  watchMethods(analytics, say, script.dataset['global'] ?? 'analytics');
  for (const step of steps.splice(0)) tell(...step);
  steps.push = (...more) => (more.forEach((step) => tell(...step)), 0);
  return { analytics, tell };
};

/** An instance without a tag. */
const openInstance = () => {
  const tell = createDeveloper({ say: createSay(), refuse: cry });
  const { analytics } = createTracker(createDirectSend, tell);
  return { analytics: analytics as Global, tell };
};

const HELP = /^what each message means: .+\/docs\/messages/;

describe('a developer is told once, with what to do, of', () => {
  for (const [name, mistake] of Object.entries(MISTAKES)) {
    it(`${name}`, async () => {
      const { make, lateMs, answer: [status, body = '{}'] = [200], told } = mistake;
      if (lateMs) vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const answer = { status, headers: new Headers(), text: async () => body };
      // A browser's own, as far as can be told.
      vi.stubGlobal('fetch', new Proxy(Math.max, { apply: async () => answer }));
      const isTagged = !('init' in mistake);
      const { analytics, tell } = isTagged ? openPage(mistake) : openInstance();
      if (!isTagged) {
        try {
          analytics.init(mistake.init as never);
        } catch {
          // The tag's file catches it, too.
        }
      }
      await make?.(analytics, tell);
      if (lateMs) await vi.advanceTimersByTimeAsync(lateMs);
      else await analytics.flush();
      const isOther = (line: string) => !HELP.test(line) && (line !== MISSING || line === told);
      await vi.waitFor(() => expect(lines.join('\n')).toContain(told));
      expect(lines.filter(isOther).map((line) => line.slice(0, told.length))).toEqual([told]);
      analytics.stop();
      vi.useRealTimers();
      // Not in the lines of the next one.
      if (isTagged) await vi.waitFor(() => expect(lines).toContain(MISSING));
    });
  }
});
