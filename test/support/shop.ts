import { expect, onTestFinished, vi } from 'vitest';
import { createTracker } from '../../src/client/analytics.js';
import { FACTS } from '../../src/client/consent.js';
import { createDirectSend } from '../../src/client/delivery/send/direct.js';
import type { Analytics, Listeners, Options } from '../../src/client/types.js';
import type { RelayOptions } from '../../src/relay.js';
import { fakeTime, pass, passUntil, settle } from './clock.js';
import { createRelayTo, createService } from './service.js';
import { DIRECT, openSite, RELAY, SITE } from './site.js';

export type Way = 'direct' | 'with keys' | 'by relay';
/** What `init` is called with. */
export const OPTIONS: Record<Way, object> = {
  direct: DIRECT,
  'with keys': { ...DIRECT, idempotencyKey: true },
  'by relay': RELAY,
};
export const WAYS = Object.keys(OPTIONS) as Way[];

const TYPES = ['record', 'sent', 'outcome', 'drop', 'error', 'storage', 'consent'] as const;
type Heard = { [Type in (typeof TYPES)[number]]: Listeners[Type][] };

export const names = (count: number, prefix = 'event'): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix} ${i}`);

/** A page of the shop, with a tracker. */
export interface Visit {
  analytics: Analytics;
  /** What its listeners have heard. */
  heard: Heard;
  /** Calls these events, in one task. */
  track: (events: readonly string[]) => void;
}

/** Makes a tracker that has listeners from its first moment, started with these options; none leaves it unstarted. */
export const startTracker = (options?: object): Visit => {
  const { analytics } = createTracker(createDirectSend);
  const heard = Object.fromEntries(
    TYPES.map((type) => [type, [] as unknown[]]),
  ) as unknown as Heard;
  for (const type of TYPES)
    analytics.on(type, (payload) => (heard[type] as unknown[]).push(structuredClone(payload)));
  if (options) analytics.init(options as Options);
  const track = (events: readonly string[]) => {
    for (const event of events) analytics.event(event);
  };
  return { analytics, heard, track };
};

/** A shop whose visitors' time is faked, with a service, and by relay with the real relay between the two. */
export const openShop = (way: Way = 'direct', relayOptions: Partial<RelayOptions> = {}) => {
  fakeTime();
  const site = openSite();
  const service = createService();
  const relay = createRelayTo(service, relayOptions);
  let isOffline = false;
  const send = async (url: string, init: RequestInit) => {
    if (isOffline) throw new TypeError('Failed to fetch');
    return (url.startsWith(SITE) ? relay : service).fetch(url, init);
  };
  vi.stubGlobal('fetch', send);
  const open: Visit[] = [];

  /** Leaves the page that is open. */
  const leave = async (): Promise<void> => {
    site.say(site.win, 'pagehide');
    site.hide();
    await settle();
    for (const { analytics } of open.splice(0)) analytics.stop();
    await settle();
    site.show(); // the next page is
    Reflect.deleteProperty(globalThis, FACTS);
  };

  onTestFinished(async () => {
    for (const { analytics } of open) analytics.stop();
    await settle();
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  const holds = async (all: readonly string[], within = 20_000): Promise<void> => {
    await passUntil(() => service.stored().length >= all.length, within).catch(() => undefined);
    await pass(500); // nothing more comes
    expect(service.names().toSorted()).toEqual([...all].sort());
  };

  return {
    site,
    service,
    relay,
    /** What the page talks to. */
    receiver: way === 'by relay' ? relay : service,
    /** Opens a page that is set up for the shop's service or relay, with these options beside. */
    visit: (options: object = {}): Visit => {
      const visit = startTracker({ ...OPTIONS[way], ...options });
      open.push(visit);
      return visit;
    },
    /** Opens a page whose tracker waits for `init`. */
    visitUnset: (): Visit => {
      const visit = startTracker();
      open.push(visit);
      return visit;
    },
    /** What `init` is called with for the shop's service or relay. */
    options: OPTIONS[way] as Options,
    offline: (): void => {
      isOffline = true;
      Object.assign(navigator, { onLine: false });
    },
    online: (): void => {
      isOffline = false;
      Object.assign(navigator, { onLine: true });
      site.say(site.win, 'online');
    },
    leave,
    /** Leaves the page, and opens the next one. */
    next: async function (options: object = {}): Promise<Visit> {
      await leave();
      return this.visit(options);
    },
    /** Lets time pass until the service has this and no more: names of events, and `identify …` of users. */
    holds,
  };
};

/** Takes the chance out of all waits: 0 for the shortest, 1 for the longest. */
export const draw = (value: 0 | 1): unknown => vi.spyOn(Math, 'random').mockReturnValue(value);
