import type { FaultRule } from '../server/fault-rules.js';
import { DEMO_ID } from './calls.js';
import type { Demo } from './demo.js';
import { outboxNames } from './tabs.js';

/** What a scene can use. Each wait ends with an error once another scene has begun. */
export interface Stage {
  demo: Demo;
  wait: (ms: number) => Promise<void>;
  /** So many events in one task. */
  burst: (count: number) => void;
  /** The service is well, the network is back, the tab is there again: time is told from here on. */
  back: (what: string) => void;
}

export interface Scene {
  id: string;
  title: string;
  words: string;
  /** In the tour: what happens, in one sentence. */
  tour?: string;
  play: (stage: Stage) => Promise<void>;
}

export const NAMES = ['Page Viewed', 'Product Viewed', 'Added to Cart', 'Checkout Started', 'Paid'];
/** The page that is opened after a crash is opened this much later: by then the lease of the dead one is over. */
const LATER_MS = 61_000;

/** Only records of this demo meet a fault: pages of the visitor's own are served as ever. */
const ours = (rule: FaultRule): FaultRule => ({ match: { property: DEMO_ID }, ...rule });

/** Of the ten calls that come next, one in the middle. */
const oneOfTen: FaultRule['match'] = { property: { n: 5 } };

const trouble =
  (rule: FaultRule, count = 10): Scene['play'] =>
  async ({ demo, burst }) => {
    await demo.setFaults(ours(rule));
    burst(count);
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

/** The first of them stand as cards; the tour plays those that have a sentence for it. */
export const SCENES: readonly Scene[] = [
  {
    id: 'burst',
    title: 'Burst of 50',
    words: '50 calls in one task',
    tour: '50 calls in one task. Each goes into the outbox, then to the service.',
    play: async ({ burst }) => burst(50),
  },
  {
    id: 'down',
    title: 'Service down for 3 s',
    words: '503 to everything, then well again',
    tour: 'The service is down for 3 s. Calls wait in the outbox, and go when it is back.',
    play: async ({ demo, burst, wait, back }) => {
      await demo.setFaults(ours({ status: 503 }));
      burst(50);
      await wait(3_000);
      await demo.heal();
      back('it was back');
    },
  },
  {
    id: 'leave',
    title: 'Leave the page',
    words: '20 calls, and off to another page in the same task',
    tour: '20 calls, and the page is left at once. The browser takes them along.',
    play: async ({ demo, burst, wait }) => {
      burst(20);
      demo.tabs.leave();
      await wait(2_500);
      await demo.tabs.open();
    },
  },
  {
    id: 'crash',
    title: 'Crash the tab',
    words: '10 calls wait, the tab dies, a minute later it is opened again',
    tour: 'The tab crashes with 10 calls waiting. Opened a minute later, it sends them.',
    play: async ({ demo, burst, wait, back }) => {
      await demo.setFaults(ours({ status: 503 }));
      burst(10);
      await wait(1_200);
      // What is on the wire as a tab dies stays unknown, so the tab dies between two attempts.
      for (let calm = 0; calm < 2; calm = demo.status()?.inFlight ? 0 : calm + 1) await wait(150);
      demo.tabs.crash();
      await demo.heal();
      await wait(1_800);
      demo.tabs.setClockAhead(LATER_MS);
      await demo.tabs.open();
      demo.tabs.setClockAhead(0);
      back('it was opened again');
    },
  },
  {
    id: 'offline',
    title: 'Go offline',
    words: '30 calls without a network, then it is back',
    tour: 'No network. 30 calls wait, and go by themselves when it is back.',
    play: async ({ demo, burst, wait, back }) => {
      demo.tabs.setOffline(true);
      burst(30);
      await wait(3_000);
      demo.tabs.setOffline(false);
      back('it was back');
    },
  },
  {
    id: 'tabs',
    title: 'Three tabs',
    words: 'One outbox; each record is sent by one of them',
    play: async ({ demo, wait }) => {
      await Promise.all([demo.tabs.open(), demo.tabs.open()]);
      for (let i = 0; i < 10; i++) {
        for (let tab = 0; tab < 3; tab++)
          demo.event(NAMES[i % 5]!, { tags: { scene: 'tabs', tab } }, tab);
        await wait(60);
      }
    },
  },
  {
    id: 'refuse',
    title: 'One bad record',
    words: '400 for one of ten; the others pass',
    play: trouble({ match: oneOfTen, status: 400, body: { code: 400, message: 'Invalid' } }),
  },
  {
    id: 'limit',
    title: 'Too many requests',
    words: '429 once, with Retry-After: 5',
    play: trouble({ status: 429, times: 1, headers: { 'Retry-After': '5' } }),
  },
  {
    id: 'error',
    title: 'Server errors',
    words: '500 to the next four requests',
    play: trouble({ status: 500, times: 4 }),
  },
  {
    id: 'hang',
    title: 'One request hangs',
    words: 'It is sent again after 10 s; the others pass',
    play: trouble({ match: oneOfTen, hang: true, times: 1 }),
  },
  {
    id: 'lost-answer',
    title: 'Answer lost',
    words: 'One is stored, and its answer lost. Keys or a relay keep it from coming twice',
    play: trouble({ match: oneOfTen, after: true, reset: true, times: 1 }),
  },
  {
    id: 'token',
    title: 'Token refused',
    words: '401 until you heal the service',
    play: trouble({ status: 401 }),
  },
  {
    id: 'unplug',
    title: 'Network down',
    words: 'Every connection is reset until you heal the service',
    play: trouble({ reset: true }),
  },
  {
    id: 'slow',
    title: 'Leave a slow service',
    words: 'The page is gone before the answers come',
    play: async ({ demo, burst, wait }) => {
      await demo.setFaults(ours({ delay: 2_000, times: 5 }));
      burst(5);
      demo.tabs.leave();
      await wait(2_500);
      await demo.tabs.open();
    },
  },
  {
    id: 'outbox',
    title: 'Kill the outbox',
    words: 'Its database is closed and deleted with 10 calls under way',
    play: async ({ demo, burst }) => {
      const names = await outboxNames();
      closeAtNextUse(demo.tabs.current()!.window, names);
      for (const name of names) indexedDB.deleteDatabase(name);
      burst(10);
    },
  },
  {
    id: 'wrong',
    title: 'Three wrong calls',
    words: 'No name; cyclic tags; 70 kB. None throws',
    play: async ({ demo }) => {
      const cyclic: Record<string, unknown> = {};
      cyclic['self'] = cyclic;
      demo.event('');
      demo.event('Cyclic', { tags: cyclic });
      demo.event('Too Large', { tags: { text: 'x'.repeat(70_000) } });
    },
  },
];
/** So many of them stand in the first row of cards. */
export const FIRST_SCENES = 7;
