import type { Demo } from './demo.js';
import type { Fault } from './service.js';
import { outboxNames } from './tabs.js';

/** What a scene can use. Each wait ends with an error once another scene has begun. */
export interface Stage {
  demo: Demo;
  wait: (ms: number) => Promise<void>;
  /** So many clicks, in one task or spread over a time. */
  click: (count: number, overMs?: number) => Promise<void>;
  /** Waits until nothing is on its way. */
  settle: () => Promise<void>;
  breakBy: (fault: Fault) => Promise<void>;
  heal: () => Promise<void>;
  /** What happens now, in the one line of the stage. */
  say: (words: string) => void;
}

export interface Scene {
  id: string;
  /** What went wrong, as a visitor would say it. */
  title: string;
  /** The first are those of the tour, each with a picture: what is lost comes first. */
  group: 'tour' | 'server' | 'network' | 'browser' | 'your mistake';
  /** Paths of a picture of 32 by 24: what is well, and what is not. */
  picture?: { well: string; broken?: string };
  /** Said as it begins. */
  words: string;
  play: (stage: Stage) => Promise<void>;
}

export const NAMES = ['Page Viewed', 'Product Viewed', 'Added to Cart', 'Checkout Started', 'Paid'];
/** The page that is opened after a crash is opened this much later: by then the lease of the dead one is over. */
const LATER_MS = 61_000;
/** Of the ten clicks that come next, one in the middle. */
const ONE_OF_TEN = { n: 5 };
const DOWN: Fault = { status: 503 };

const trouble =
  (fault: Fault, count = 10): Scene['play'] =>
  async ({ breakBy, click }) => {
    await breakBy(fault);
    await click(count);
  };

/** The server is down, and the tab goes while its clicks wait. Later the page is opened again. */
const lose =
  (words: string, go: (demo: Demo) => void): Scene['play'] =>
  async ({ demo, breakBy, heal, click, wait, say }) => {
    await breakBy(DOWN);
    await click(10);
    await wait(1_200);
    // What is on the wire as a tab dies stays unknown, so it goes between two attempts.
    for (let calm = 0; calm < 2; calm = demo.status()?.inFlight ? 0 : calm + 1) await wait(150);
    go(demo);
    say(words);
    await heal();
    await wait(2_000);
    say('The page is opened again. Its outbox sends what it finds.');
    await demo.tabs.open();
    demo.tabs.setClockAhead(0);
  };

/** The database is closed under the tracker the next time it is used, as browsers do now and then. */
const closeAtNextUse = ({ IDBDatabase }: typeof globalThis, names: readonly string[]): void => {
  const { prototype } = IDBDatabase;
  const { transaction } = prototype;
  prototype.transaction = function (...given: Parameters<typeof transaction>) {
    if (names.includes(this.name)) {
      prototype.transaction = transaction;
      this.close();
    }
    return transaction.apply(this, given);
  };
};

/** All that a visitor of the demo can break. */
export const SCENES: readonly Scene[] = [
  {
    id: 'down',
    title: 'Server down',
    group: 'tour',
    picture: { well: 'M4 3h24v7H4zM4 14h24v7H4zM8 6.5h2M8 17.5h2', broken: 'M22 4l-6 8h6l-5 8' },
    words: '10 clicks arrive.',
    play: async ({ breakBy, heal, click, settle, wait, say }) => {
      await click(10);
      await settle();
      await breakBy(DOWN);
      say('The server is down. 30 clicks meanwhile.');
      await click(30, 1_500);
      await wait(1_500);
      await heal();
      say('The server is back. 10 more clicks.');
      await click(10);
    },
  },
  {
    id: 'leave',
    title: 'Leave the page',
    group: 'tour',
    picture: { well: 'M16 3H4v18h12', broken: 'M12 12h16M22 6l6 6-6 6' },
    words: '20 clicks, and the page is left at the same moment.',
    play: async ({ demo, click, wait }) => {
      void click(20);
      demo.tabs.leave();
      await wait(2_000);
      await demo.tabs.open();
    },
  },
  {
    id: 'close',
    title: 'Close the tab',
    group: 'tour',
    picture: { well: 'M3 21V6h8l2-3h16v18zM3 9h26', broken: 'M12 12l7 6M19 12l-7 6' },
    words: 'The server is down again, and 10 clicks wait.',
    play: lose('The tab is closed. Its outbox stays on the disk.', ({ tabs }) => tabs.close()),
  },
  {
    id: 'offline',
    title: 'Cut the network',
    group: 'tour',
    picture: { well: 'M2 12h9M21 12h9', broken: 'M13 8l6 8M19 8l-6 8' },
    words: '6 clicks arrive.',
    play: async ({ demo, click, settle, wait, say }) => {
      await click(6);
      await settle();
      demo.tabs.setOffline(true);
      say('No network. 18 clicks meanwhile.');
      await click(18, 1_500);
      await wait(1_500);
      demo.tabs.setOffline(false);
      say('The network is back. 6 more clicks.');
      await click(6);
    },
  },
  {
    id: 'burst',
    title: '50 clicks',
    group: 'tour',
    picture: {
      well: 'M4 4h4v4H4zM14 4h4v4h-4zM24 4h4v4h-4zM4 15h4v4H4zM14 15h4v4h-4zM24 15h4v4h-4z',
    },
    words: '50 clicks at once, and all is well.',
    play: ({ click }) => click(50),
  },
  {
    id: 'error',
    title: 'Stumbles four times',
    group: 'server',
    words: 'The server fails four times.',
    play: trouble({ status: 500, times: 4 }),
  },
  {
    id: 'limit',
    title: 'Too busy',
    group: 'server',
    words: 'The server is too busy for one click, and asks for 5 seconds of patience.',
    play: trouble({ status: 429, times: 1, headers: { 'Retry-After': '5' } }),
  },
  {
    id: 'slow',
    title: 'Slow, and you leave',
    group: 'server',
    words: 'The server is slow, and the page is left before it answers.',
    play: async ({ demo, breakBy, click, wait }) => {
      await breakBy({ delay: 2_000, times: 5 });
      void click(5);
      demo.tabs.leave();
      await wait(2_500);
      await demo.tabs.open();
    },
  },
  {
    id: 'unplug',
    title: 'Every connection breaks',
    group: 'network',
    words: 'Every connection breaks until you heal it.',
    play: trouble({ reset: true }),
  },
  {
    id: 'lost-answer',
    title: 'Answer lost',
    group: 'network',
    words: 'One click is stored, and its answer gets lost.',
    play: trouble({ only: ONE_OF_TEN, after: true, reset: true, times: 1 }),
  },
  {
    id: 'crash',
    title: 'Crash',
    group: 'browser',
    words: 'The server is down, and 10 clicks wait.',
    play: lose('The tab has crashed. Its outbox stays on the disk.', ({ tabs }) => {
      tabs.crash();
      tabs.setClockAhead(LATER_MS);
    }),
  },
  {
    id: 'tabs',
    title: 'Three tabs',
    group: 'browser',
    words: 'Three tabs share one outbox. Each click is sent by one of them.',
    play: async ({ demo, wait }) => {
      await Promise.all([demo.tabs.open(), demo.tabs.open()]);
      for (let i = 0; i < 10; i++) {
        for (const tab of demo.tabs.all()) demo.event(NAMES[i % 5]!, {}, { scene: 'tabs', tab });
        await wait(60);
      }
    },
  },
  {
    id: 'outbox',
    title: 'Storage deleted',
    group: 'browser',
    words: 'The browser deletes the outbox while 10 clicks are under way.',
    play: async ({ demo, click }) => {
      const names = await outboxNames();
      closeAtNextUse(demo.tabs.current()!.window, names);
      for (const name of names) indexedDB.deleteDatabase(name);
      await click(10);
    },
  },
  {
    id: 'token',
    title: 'Wrong token',
    group: 'your mistake',
    words: 'The server refuses the token until you heal it.',
    play: trouble({ status: 401 }),
  },
  {
    id: 'refuse',
    title: 'One bad event',
    group: 'your mistake',
    words: 'The server refuses one event of ten. The others pass.',
    play: trouble({ only: ONE_OF_TEN, status: 400, body: { code: 400, message: 'Invalid' } }),
  },
  {
    id: 'wrong',
    title: 'Three wrong calls',
    group: 'your mistake',
    words: 'No name; tags that JSON cannot hold; 70 kB. None throws into the page.',
    play: async ({ demo }) => {
      const cyclic: Record<string, unknown> = {};
      cyclic['self'] = cyclic;
      const from = { scene: 'wrong' };
      demo.event('', {}, from);
      demo.event('Cyclic', cyclic, from);
      demo.event('Too Large', { text: 'x'.repeat(70_000) }, from);
    },
  },
];
