import type {
  Analytics,
  EventFields,
  Options,
  OutboxRecord,
  Status,
} from '../../src/client/types.js';
import type { FaultRule } from '../server/fault-rules.js';
import { createCalls, demoIdIn, DEMO_ID, type Call } from './calls.js';
import { createService } from './service.js';
import { createTabs } from './tabs.js';

/** The set-up as the server has written it into the page. */
export interface Setup {
  home: string;
  service: string;
  /** The tag to copy. */
  tag: string;
  project: string;
  isRelay: boolean;
  options: () => Options;
}

const readSetup = (): Setup => {
  const {
    home = '/',
    service = '',
    tag = '',
    project = '',
    ...given
  } = document.getElementById('setup')!.dataset;
  const { relay, baseUrl = '', token = '' } = given;
  const common = { project, channel: 'web', timeout: 10_000 };
  const isRelay = relay !== undefined;
  const options = () => (isRelay ? { ...common, relay } : { ...common, baseUrl, token });
  return { home, service, tag, project, isRelay, options };
};

/** What the visitor of the demo has chosen. */
export interface Choices {
  idempotencyKey: boolean;
  isAuto: boolean;
  flushAt: number | undefined;
  flushInterval: number | undefined;
  concurrency: number | undefined;
}

export interface LogLine {
  n: number;
  at: number;
  what: string;
  id: string;
  words: string;
  tone: 'good' | 'wait' | 'bad' | '';
}

const MOST_LINES = 200;
/** A record that the service has taken is seen among its rows within this time; else they are read once more. */
const SEEN_WITHIN_MS = 400;

/** The one composition of the demo: calls are made in tabs, and followed to the rows of the service. */
export const createDemo = () => {
  const setup = readSetup();
  const calls = createCalls();
  const listeners = new Set<() => void>();
  let frame: number | undefined;
  let choices: Choices = {
    ...{ idempotencyKey: false, isAuto: false },
    ...{ flushAt: undefined, flushInterval: undefined, concurrency: undefined },
  };
  let log: readonly LogLine[] = [];
  let lines = 0;
  /** The last answers on the wire: a status, or 0 for none. */
  let answers: readonly number[] = [];
  /** The call that is being made. */
  let calling: string | undefined;
  let attempt = 0;
  let looking: ReturnType<typeof setTimeout> | undefined;
  let fault: FaultRule | undefined;

  const onChange = (): void => {
    frame ??= requestAnimationFrame(() => {
      frame = undefined;
      for (const listener of listeners) listener();
    });
  };

  const service = createService({
    onRows: (rows) => {
      for (const { body, received_at } of rows) {
        const id = demoIdIn(body);
        if (id !== undefined) calls.store(id, Date.parse(received_at));
      }
    },
    onChange,
  });

  const note = (what: string, id: string, words: string, tone: LogLine['tone'] = ''): void => {
    log = [{ n: ++lines, at: Date.now(), what, id, words, tone }, ...log].slice(0, MOST_LINES);
    onChange();
  };

  const lookSoon = (): void => {
    looking ??= setTimeout(() => {
      looking = undefined;
      service.look().catch(() => undefined); // the next look will tell
    }, SEEN_WITHIN_MS);
  };

  const nameOf = (body: Record<string, unknown>): string =>
    `${(body['event'] ?? body['user_id']) as string}`;

  /** The id of a record. One that another page has made is new to this one. */
  const idOf = (record: OutboxRecord): string => {
    const body = JSON.parse(record.body) as Record<string, unknown>;
    const id = demoIdIn(body) ?? record.id;
    calls.add(id, record.type, nameOf(body));
    return id;
  };

  const listen = ({ on }: Analytics): void => {
    on('record', (record) => {
      const id = idOf(record);
      calls.setFate(id, 'waiting');
      note('record', id, `${record.type} ${nameOf(JSON.parse(record.body) as never)}`);
    });
    on('sent', ({ record, handoff }) => {
      const id = idOf(record);
      const detail = handoff ? 'handed to the browser' : undefined;
      calls.setFate(id, 'in flight', { ...(detail && { detail }), attempts: record.attempts });
      note('sent', id, handoff ? 'handed to the browser' : `attempt ${record.attempts}`);
    });
    on('outcome', ({ record, outcome, status = 0 }) => {
      const id = idOf(record);
      const after = status ? `after ${status}` : 'no answer';
      if (outcome === 'delivered' || outcome === 'unknown') calls.setFate(id, outcome);
      // What is rejected is also dropped, and the drop has the reason.
      else if (outcome !== 'rejected') calls.setFate(id, 'again', { detail: after });
      if (outcome === 'delivered') lookSoon();
      if (outcome !== 'unknown') answers = [...answers, status].slice(-MOST_LINES);
      const tone = outcome === 'delivered' ? 'good' : outcome === 'retry' ? 'wait' : 'bad';
      note('outcome', id, `${outcome}${status ? ` (${status})` : ''}`, tone);
    });
    on('drop', ({ record, reason, message }) => {
      const id = record ? idOf(record) : (calling ?? calls.newId());
      if (!record) calls.add(id, 'event', '(no record)');
      calls.setFate(id, 'dropped', { detail: reason });
      note('drop', id, message === reason ? reason : `${reason}: ${message}`, 'bad');
    });
    on('error', ({ kind, message }) => note('error', '', `${kind}: ${message}`, 'bad'));
    on('storage', ({ storage, message }) =>
      note('storage', '', message ? `${storage}: ${message}` : storage),
    );
    on('consent', ({ consent }) => note('consent', '', consent));
    on('reset', () => note('reset', '', 'the user is forgotten'));
  };

  const options = (): Options => {
    const { idempotencyKey, flushAt, flushInterval, concurrency } = choices;
    const given = setup.options();
    return {
      ...given,
      // Slightly different each time: to the tracker that is a change, and reason to go on at once.
      timeout: given.timeout! + (++attempt % 2),
      ...(flushAt && { flushAt }),
      ...(flushInterval && { flushInterval }),
      ...(concurrency && { concurrency }),
      ...(!setup.isRelay && { idempotencyKey }),
      // Every record can be found again: one that the page makes by itself, too.
      beforeSend: (draft) => {
        const id = calling ?? calls.newId();
        const { type, body } = draft;
        if (type === 'event') body.tags = { ...body.tags, [DEMO_ID]: id };
        else body.properties = { ...body.properties, [DEMO_ID]: id };
        return draft;
      },
    } as Options;
  };

  const tabs = createTabs({
    ...{ home: setup.home.replace(/\/?$/, '/'), options, listen, onChange },
    isAuto: () => choices.isAuto,
  });

  /** Makes a call in the tab, which is counted before it is made. Returns what became of it by then. */
  const call = (
    type: Call['type'],
    name: string,
    make: (analytics: Analytics) => void,
    tab = 0,
  ): Call => {
    const id = calls.newId();
    calls.add(id, type, name);
    calling = id;
    make(tabs.all()[tab]!.analytics);
    calling = undefined;
    onChange();
    return calls.all().find((made) => made.id === id)!;
  };

  return {
    setup,
    tabs,
    service,
    calls,
    subscribe: (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onChange,
    event: (name: string, fields: EventFields = {}, tab?: number): Call =>
      call('event', name, ({ event }) => event(name, fields as Record<string, unknown>), tab),
    identify: (userId: string, properties: object): Call =>
      call('identify', userId, ({ identify }) => identify(userId, properties)),
    log: () => log,
    answers: () => answers,
    status: (): Status | undefined => tabs.status(),
    choices: () => choices,
    choose: (changed: Partial<Choices>): void => {
      const wasAuto = choices.isAuto;
      choices = { ...choices, ...changed };
      if (choices.isAuto !== wasAuto) {
        tabs.close();
        void tabs.open();
      } else tabs.configure();
    },
    options,
    fault: () => fault,
    setFaults: async (...rules: FaultRule[]): Promise<void> => {
      await service.setFaults(rules);
      fault = rules[0];
      onChange();
    },
    /** Ends all faults, and lets the tab go on at once where it is asked to. */
    heal: async (atOnce = false): Promise<void> => {
      await service.heal();
      fault = undefined;
      if (atOnce) tabs.configure();
      onChange();
    },
    /** A new tab, an empty outbox, a service that is well, and no calls. */
    startAfresh: async (): Promise<void> => {
      await tabs.wipe();
      await service.heal();
      fault = undefined;
      calls.forget();
      answers = [];
      log = [];
      onChange();
      await tabs.open();
    },
  };
};

export type Demo = ReturnType<typeof createDemo>;
