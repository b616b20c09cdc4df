import type { Analytics, Options, OutboxRecord, RecordType } from '../../src/client/types.js';
import {
  createClicks,
  DEMO_ID,
  LANE,
  markIn,
  tallyOf,
  type End,
  type Lane,
  type Tally,
} from './clicks.js';
import { createService } from './service.js';
import { createTabs, type Tab } from './tabs.js';

/** The set-up as the server has written it into the page. */
const readSetup = () => {
  const {
    home = '/',
    service = '',
    tag = '',
    ...given
  } = document.getElementById('setup')!.dataset;
  const { project = '', relay, baseUrl, token } = given;
  return { home, service, tag, options: { project, channel: 'web', relay, baseUrl, token } };
};

/** Equal lines of a lane that follow each other are one, with their count. */
interface LogLine {
  n: number;
  lane: Lane;
  /** A status, or other words of programs. */
  code: string;
  words: string;
  times: number;
  /** Of the last one. Milliseconds since the epoch. */
  at: number;
}

const MOST_LINES = 100;
/** The rows are looked at this often while clicks end. Otherwise they are seen as they come. */
const LOOK_EVERY_MS = 400;
/** A request that a page had begun before it was left arrives within this time, or never. */
const ARRIVES_WITHIN_MS = 5_000;
/** The requests of a page that is being left may fail this long before the page is gone. */
const LEAVES_WITHIN_MS = 300;

const OUTCOMES = {
  delivered: 'taken',
  retry: 'waits, and is sent again',
  blocked: 'waits for a repair, and is sent again',
  rejected: 'refused',
  unknown: 'the page was gone before the answer',
};

/** The one composition of the demo: clicks are made in tabs, and counted in the rows of the service. */
export const createDemo = () => {
  const setup = readSetup();
  const clicks = createClicks();
  const listeners = new Set<() => void>();
  let frame: number | undefined;
  let hasKeys = true;
  let log: readonly LogLine[] = [];
  let lines = 0;
  /** The click that is being made. */
  let clicking: string | undefined;
  let repairs = 0;
  let looking: ReturnType<typeof setInterval> | undefined;
  let lookUntil = 0;

  const onChange = (): void => {
    frame ??= requestAnimationFrame(() => {
      frame = undefined;
      for (const listener of listeners) listener();
    });
  };

  const service = createService({
    onRow: ({ body }) => {
      const mark = markIn(body);
      if (mark) clicks.store(mark.id, mark.lane);
    },
    onChange,
  });

  const note = (lane: Lane, code: string, words: string): void => {
    const isSame = (line: LogLine) => line.code === code && line.words === words;
    const last = log.find((line) => line.lane === lane);
    const { n, times } = last && isSame(last) ? last : { n: ++lines, times: 0 };
    const line = { n, lane, code, words, times: times + 1, at: Date.now() };
    log = [line, ...log.filter((other) => other.n !== n)].slice(0, MOST_LINES);
    onChange();
  };

  /** Keeps how one way of a click has ended, and looks at the rows until no more of it can come. */
  const end = (id: string, lane: Lane, as: End['as'], inMs = 0): void => {
    const at = Date.now() + inMs;
    clicks.end(id, lane, { as, at });
    lookUntil = Math.max(lookUntil, at);
    looking ??= setInterval(() => {
      service.look().catch(() => undefined); // the next look will tell
      if (service.readAt() <= lookUntil) return;
      clearInterval(looking);
      looking = undefined;
    }, LOOK_EVERY_MS);
  };

  /** A call as many pages make it: it is sent once, and its answer is not looked at. */
  const sendBare = (id: string, type: RecordType, body: object, { fetch, gone }: Tab): void => {
    const { project, channel, baseUrl, relay = baseUrl, token } = setup.options;
    const conclude = (code: string, words: string, inMs?: number): void => {
      gone.removeEventListener('abort', leave);
      note('without', code, words);
      end(id, 'without', 'answered', inMs);
    };
    const leave = () => conclude('left', 'the page is gone before the answer', ARRIVES_WITHIN_MS);
    const send = async (): Promise<void> => {
      const { ok, status } = await fetch(`${relay}/v1/${type}`, {
        method: 'POST',
        keepalive: true,
        headers: {
          'content-type': 'application/json',
          ...(token && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ project, ...(type === 'event' && { channel }), ...body }),
      });
      conclude(`${status}`, ok ? 'taken' : 'gone');
    };
    gone.addEventListener('abort', leave);
    send().catch(({ message }: Error) =>
      setTimeout(() => !gone.aborted && conclude(message, 'gone'), LEAVES_WITHIN_MS),
    );
  };

  /** Makes one call both ways. Its tags or properties say which call it is, and which way it went. */
  const sendBoth = (
    { type, scene, tab = tabs.current()! }: { type: RecordType; scene?: string; tab?: Tab },
    bodyOf: (mark: Record<string, string>) => object,
    make: (analytics: Analytics, mark: Record<string, string>) => void,
  ): void => {
    const id = clicks.add(scene);
    const markOf = (lane: Lane) => ({ [DEMO_ID]: id, [LANE]: lane });
    sendBare(id, type, bodyOf(markOf('without')), tab);
    clicking = id;
    make(tab.analytics, markOf('with'));
    clicking = undefined;
    onChange();
  };

  const event = (name: string, tags: object, from: { scene?: string; tab?: Tab } = {}): void =>
    sendBoth(
      { type: 'event', ...from },
      (mark) => ({ event: name, tags: { ...tags, ...mark } }),
      (analytics, mark) => analytics.event(name, { tags: { ...tags, ...mark } }),
    );

  const identify = (user_id: string, properties: object): void =>
    sendBoth(
      { type: 'identify' },
      (mark) => ({ user_id, properties: { ...properties, ...mark } }),
      (analytics, mark) => analytics.identify(user_id, { ...properties, ...mark }),
    );

  const listen = ({ on }: Analytics): void => {
    const idOf = (record?: OutboxRecord) =>
      record ? (markIn(JSON.parse(record.body))?.id ?? '') : (clicking ?? '');
    on('outcome', ({ record, outcome, status }) => {
      note('with', status ? `${status}` : 'no answer', OUTCOMES[outcome]);
      if (outcome === 'delivered') end(idOf(record), 'with', 'answered');
      if (outcome === 'unknown') end(idOf(record), 'with', 'unknown', ARRIVES_WITHIN_MS);
    });
    on('drop', ({ record, reason, message }) => {
      note('with', reason, message);
      end(idOf(record), 'with', 'dropped');
    });
    on('error', ({ kind, message }) => note('with', kind, message));
    on('record', onChange);
  };

  /** A change of the options is a reason for the tracker to go on at once. */
  const options = (): Options => {
    const timeout = 10_000 + (repairs++ % 2);
    const keys = setup.options.relay === undefined && { idempotencyKey: hasKeys };
    return { ...setup.options, timeout, ...keys } as Options;
  };

  const tabs = createTabs({
    ...{ home: setup.home.replace(/\/?$/, '/'), options, listen, onChange },
    onPress: (name, tab) => event(name, { price: 19 }, { tab }),
  });

  return {
    setup,
    tabs,
    service,
    event,
    identify,
    clicks: clicks.all,
    tally: (lane: Lane, scene?: string): Tally => {
      const all = clicks.all().filter((click) => !scene || click.scene === scene);
      return tallyOf(all, lane, service.readAt());
    },
    subscribe: (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onChange,
    log: () => log,
    status: () => tabs.status(),
    hasKeys: () => hasKeys,
    setKeys: (on: boolean): void => {
      hasKeys = on;
      tabs.configure();
    },
    /** The service is well and the network is back, and the tab goes on at once. */
    heal: async (): Promise<void> => {
      tabs.setOffline(false);
      await service.heal();
      tabs.configure();
    },
    /** A new tab, an empty outbox, a service that is well, and no clicks. */
    startAfresh: async (): Promise<void> => {
      await tabs.wipe();
      await service.heal();
      clicks.forget();
      log = [];
      onChange();
      await tabs.open();
    },
  };
};

export type Demo = ReturnType<typeof createDemo>;
