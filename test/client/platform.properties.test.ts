import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BatchAnswer } from '../../src/interface/wire.js';
import { OPTIONS, startTracker, WAYS, type Way } from '../support/shop.js';
import { openSite } from '../support/site.js';

/** What a function gives that is broken. Made anew each time, by name: some of it cannot even be printed. */
const NONSENSE: Record<string, () => unknown> = {
  nothing: () => undefined,
  null: () => null,
  NaN: () => NaN,
  'a number': () => -1,
  'a text': () => 'x',
  'an object': () => ({}),
  'an array': () => [],
  'a function': () => () => 1,
  'what is no text': () => ({ toString: 0, valueOf: 0 }),
};
const thrower = (): never => {
  throw new Error('broken');
};
const never = () => new Promise<never>(() => undefined);

/** What a function does that misbehaves. */
const FAULTS: Record<string, (...args: never[]) => unknown> = {
  throws: thrower,
  'throws nothing': () => {
    throw undefined;
  },
  'never settles': never,
  ...Object.fromEntries(
    Object.entries(NONSENSE).map(([name, make]) => [`gives ${name}`, () => make()]),
  ),
};

/** `undefined`: it is missing. */
type Fault = ((...args: never[]) => unknown) | undefined;

/** The service, or the relay, as `fetch` sees it. Each part of an answer can break. */
const createService = () => {
  const taken: string[] = [];
  let requests = 0;
  const parts: Record<string, Fault> = {};
  const part = (name: string, right: () => unknown) => parts[name] ?? right;
  const take = (record: { event: string }) => taken.push(record.event);
  const fetch = async (url: string, { body }: { body: string }) => {
    requests++;
    const given = JSON.parse(body) as { records: { id: string; body: { event: string } }[] };
    if (url.includes('batch')) given.records.forEach((record) => take(record.body));
    else take(given as never);
    const result = ({ id }: { id: string }) => ({
      id,
      outcome: 'delivered',
      status: 200,
      ...(parts['the result'] && { ...(parts['the result'] as () => object)() }),
    });
    const text = url.includes('batch')
      ? JSON.stringify({ results: given.records.map(result) } as BatchAnswer)
      : '{"success":true}';
    return {
      get status() {
        return part('status', () => 200)();
      },
      headers: { get: part('headers.get', () => null) },
      text: part('text', async () => text),
    };
  };
  return { taken, parts, fetch, requests: () => requests };
};

type Service = ReturnType<typeof createService>;

interface Stage {
  service: Service;
  /** The options that the site gives. They are read at each use. */
  own: Record<string, Fault>;
}

/** Breaks a thing. */
const replace = (name: string) => (_: Stage, fault: Fault) => void vi.stubGlobal(name, fault);
const replaceIn = (name: string, member: string) => (_: Stage, fault: Fault) => {
  const real = (globalThis as unknown as Record<string, object>)[name]!;
  vi.stubGlobal(
    name,
    new Proxy(real, { get: (from, key) => (key === member ? fault : Reflect.get(from, key)) }),
  );
};
const getterOf = (name: string, member: string) => (_: Stage, fault: Fault) =>
  void vi.stubGlobal(name, {
    get [member]() {
      return fault?.();
    },
  });
const own =
  (name: string) =>
  ({ own }: Stage, fault: Fault) =>
    void (own[name] = fault ?? thrower);
const answer =
  (name: string) =>
  ({ service }: Stage, fault: Fault) =>
    void (service.parts[name] = fault);

const GLOBALS = [
  ...['fetch', 'setTimeout', 'requestIdleCallback', 'AbortController', 'TextEncoder'],
  ...['localStorage', 'indexedDB', 'navigator', 'URL'],
];
const MEMBERS = [
  ...['performance.now', 'crypto.getRandomValues', 'indexedDB.open', 'navigator.sendBeacon'],
  ...['localStorage.getItem', 'localStorage.setItem', 'localStorage.removeItem'],
].map((path) => path.split('.') as [name: string, member: string]);

const THINGS: Record<string, (stage: Stage, fault: Fault) => void> = {
  ...Object.fromEntries(GLOBALS.map((name) => [name, replace(name)])),
  ...Object.fromEntries(MEMBERS.map((path) => [path.join('.'), replaceIn(...path)])),
  'navigator.onLine': getterOf('navigator', 'onLine'),
  'navigator.globalPrivacyControl': getterOf('navigator', 'globalPrivacyControl'),
  'the status': answer('status'),
  'headers.get': answer('headers.get'),
  'the text': answer('text'),
  'a result': answer('the result'),
  token: own('token'),
  now: own('now'),
  'a listener': own('listener'),
};

/** Without these nothing can be delivered, or it looks as if it were. */
const NEEDED = 'fetch|setTimeout|the status|the text|a result|token|navigator.sendBeacon'.split(
  '|',
);

const realTimers = { setTimeout, setImmediate };
/** Lets what is under way come to its end, and time pass. */
const pass = async (ms: number) => {
  for (let left = ms; left >= 0; left -= 250) {
    for (let i = 0; i < 4; i++) await new Promise((done) => realTimers.setImmediate(done));
    await vi.advanceTimersByTimeAsync(250);
  }
};

const errors: unknown[] = [];
const note = (error: unknown) => void errors.push(error);
beforeEach(() => {
  errors.length = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  process.on('unhandledRejection', note).on('uncaughtException', note);
});
afterEach(() => {
  process.off('unhandledRejection', note).off('uncaughtException', note);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

interface Case {
  thing: string;
  fault: string;
  way: Way;
  isFromStart: boolean;
  happens: string[];
}

const play = async ({ thing, fault, way, isFromStart, happens }: Case) => {
  const site = openSite();
  const service = createService();
  const stage: Stage = { service, own: {} };
  vi.stubGlobal('fetch', service.fetch);
  vi.stubGlobal('requestIdleCallback', (work: () => void) => setTimeout(work, 5));
  const names = new Set([...GLOBALS, ...MEMBERS.map(([name]) => name)]);
  const standard = [...names].map(
    (name) => [name, (globalThis as Record<string, unknown>)[name]] as const,
  );
  const mend = () => {
    for (const [name, value] of standard) vi.stubGlobal(name, value);
    stage.own = {};
    for (const name of Object.keys(service.parts)) delete service.parts[name];
  };
  const breakIt = () => THINGS[thing]!(stage, FAULTS[fault]);
  mend();
  if (isFromStart) breakIt();
  const { analytics } = startTracker({
    timeout: 2_000,
    flushInterval: 100,
    ...OPTIONS[way],
    ...(thing === 'token' &&
      way !== 'by relay' && {
        token: () => (stage.own.token ?? (() => 't'))() as string,
      }),
    ...(thing === 'now' && { now: () => (stage.own.now ?? Date.now)() as number }),
  });
  for (const type of ['record', 'sent', 'outcome', 'error', 'storage', 'consent', 'drop'] as const)
    analytics.on(type, () => stage.own.listener?.());
  if (!isFromStart) {
    analytics.event('Before');
    await pass(250);
    breakIt();
  }
  const acts: Record<string, () => unknown> = {
    call: () => analytics.event('During'),
    hide: site.hide,
    show: site.show,
    online: () => site.say(site.win, 'online'),
    stored: () => site.say(site.win, 'storage'),
    wait: () => pass(1_000),
    flush: () => void analytics.flush(),
    status: () => analytics.status(),
    leave: () => {
      site.say(site.win, 'pagehide');
      site.hide();
      site.show();
    },
  };
  for (const act of ['call', ...happens]) await acts[act]!();
  site.show();
  await pass(3_000);
  const before = service.requests();
  const isDelivered = service.taken.includes('During');
  mend();
  analytics.event('After');
  await pass(12_000);
  analytics.event('Last');
  await pass(12_000);
  const status = analytics.status();
  analytics.stop();
  await pass(250);
  return { service, before, isDelivered, status };
};

const cases = fc.record<Case>({
  thing: fc.constantFrom(...Object.keys(THINGS)),
  fault: fc.constantFrom('is missing', ...Object.keys(FAULTS)),
  way: fc.constantFrom(...WAYS),
  isFromStart: fc.boolean(),
  happens: fc.array(
    fc.constantFrom('call', 'hide', 'show', 'online', 'stored', 'wait', 'flush', 'status', 'leave'),
    { maxLength: 6 },
  ),
});

describe('whatever misbehaves for a while', () => {
  it('makes no page error, and the next record is delivered once it behaves', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (one) => {
        // `clearTimeout` throws at that.
        fc.pre(one.thing !== 'setTimeout' || one.fault !== 'gives what is no text');
        errors.length = 0; // or each smaller case would fail with those of the first
        const { service, before, isDelivered, status } = await play(one);
        expect(errors.map(String)).toEqual([]);
        expect(service.taken).toContain('After');
        expect(service.taken).toContain('Last');
        expect(status).toMatchObject({ inFlight: 0, waiting: 0, dropped: {} });
        if (!NEEDED.includes(one.thing)) expect(isDelivered).toBe(true);
        expect(before).toBeLessThan(25);
      }),
      { numRuns: 200, seed: 40 },
    );
  });
});
