import { ahead } from '../../interface/backoff.js';
import { BATCH_RECORDS } from '../../interface/wire.js';
import { isHidden } from '../life.js';
import { isOffline } from '../page.js';
import type { Destination } from '../destination.js';
import { entriesOf } from '../outbox/held.js';
import type { Outbox } from '../outbox/outbox.js';
import type { Entry } from '../outbox/parcel.js';
import type { Status } from '../types.js';
import { choose } from './choice.js';
import { createRequests, weigh } from './requests.js';
import type { createDirectSend } from './send/direct.js';
import { createRelaySend } from './send/relay.js';
import { KEEPALIVE_BUDGET } from './send/post.js';
import { createToken } from './token.js';
import { createTrouble } from './trouble.js';

/** A free place waits this long for others, so that one write can name the records of several requests. */
const TOGETHER_MS = 12;
/** Chromium carries 256 requests past the end of a page, no more. */
const HANDOFF = 128;

/** Sends what the outbox has to one destination: a loop that chooses records, names them, and starts requests. */
export const createPump = (
  destination: Destination,
  outbox: Outbox,
  direct: typeof createDirectSend | undefined,
) => {
  const { name, settings, now } = destination;
  const { held } = outbox;
  const isRelay = !!settings().relay;
  const trouble = createTrouble(`${name} gate`, now);
  const token = createToken(settings);
  const send = isRelay ? createRelaySend(settings, now) : direct!(settings, now, token.get);
  const requests = createRequests(destination, {
    outbox,
    trouble,
    token,
    send,
    onEnd: () => wake(now() + (requests.running.size ? TOGETHER_MS : 0)),
  });
  /** Calls up to this one are due. */
  let horizon = 0;
  const waiters: (() => void)[] = [];

  // When to look again.

  let timer: ReturnType<typeof setTimeout> | undefined;
  let timerAt = Infinity;
  const wake = (at: number) => {
    if (at >= timerAt && timerAt >= now()) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(() => {
      timerAt = Infinity;
      void pump();
    }, at - now());
  };

  // What goes next.

  const joins = (group: readonly Entry[], entry: Entry): boolean =>
    isRelay &&
    group.length < Math.min(requests.state.width, BATCH_RECORDS >> group[0]!.record.attempts) &&
    weigh([...group, entry]) <= KEEPALIVE_BUDGET;

  const mayGo = (entry: Entry): boolean => {
    if (entry.order > horizon || !outbox.isSafe(entry) || outbox.expire(entry)) return false;
    const due = ahead(entry.record.due, now());
    if (due) wake(due);
    return !due && !outbox.mustWait(entry);
  };

  const places = (): number =>
    (trouble.read().since || isRelay ? 1 : Math.min(requests.state.width, settings().concurrency)) -
    requests.running.size;

  const isStartable = (group: readonly Entry[]): boolean =>
    !!held.database &&
    !trouble.read().until &&
    group.every((entry) => !entry.isSent && outbox.isSafe(entry));

  const askToken = async () => {
    const problem = await token.ask();
    if (problem === undefined) return;
    requests.tell('token', problem);
    requests.failed({ outcome: 'blocked', status: 0, retryAfterMs: 0, problem });
  };

  /** Starts what may be started now. Returns whether to look once more. */
  const round = async (): Promise<boolean> => {
    outbox.checkLease();
    if (!held.database) return false;
    const { until } = trouble.read();
    if (until) {
      wake(until);
      return false;
    }
    if (held.count && token.get() === undefined) {
      await askToken();
      return true;
    }
    const free = places();
    const entries = entriesOf(held);
    const groups =
      free > 0 ? choose({ entries, places: free, isLeaving: false, joins, mayGo }) : [];
    if (outbox.wantsMore(!groups.length && free > 0)) void outbox.claim().then(pump);
    if (!groups.length) return false;
    const named = outbox.name(groups.flat());
    if (!isHidden()) await named;
    let hasStarted = false;
    for (const group of groups) {
      if (isStartable(group)) {
        hasStarted = true;
        void requests.start(group, false);
      } else for (const entry of group) if (!entry.isSent) outbox.putBack(entry);
    }
    return hasStarted;
  };

  let isPumping = false;
  let isAgain = false;
  /** Sends what may be sent, and goes on until nothing is left to do. */
  const pump = async (): Promise<void> => {
    isAgain = true;
    if (isPumping) return;
    isPumping = true;
    while (isAgain) {
      isAgain = false;
      isAgain = (await round()) || isAgain;
    }
    isPumping = false;
    if (requests.running.size || outbox.isClaiming()) return;
    for (const settle of waiters.splice(0)) settle();
  };

  const flushAll = () => {
    horizon = held.order;
    void pump();
  };

  const online = () => {
    requests.renew();
    trouble.online();
    for (const { record } of entriesOf(held)) record.due = 0;
    flushAll();
  };

  return {
    pump: pump as () => unknown,
    flushAll,
    /** Settles when nothing is under way any more. */
    flush: (): Promise<void> => {
      flushAll();
      return new Promise((settle) => waiters.push(settle));
    },
    /**
     * Hands off what the browser takes from a page that is hidden or goes away: at once, from memory. A record that may
     * safely be sent again is handed off in trouble, too, unless the service has asked for a wait.
     */
    handOff: (): void => {
      if (!held.database || token.get() === undefined) return;
      const { since, asked } = trouble.read();
      if (settings().resends ? asked : since || isOffline()) return;
      horizon = held.order;
      let left = requests.room();
      const fits = (group: Entry[]) => (left -= weigh(group)) >= 0;
      const groups = choose({
        entries: entriesOf(held),
        places: HANDOFF,
        isLeaving: true,
        joins: (group, entry) =>
          isRelay && group.length < BATCH_RECORDS && weigh([...group, entry]) <= left,
        mayGo: (entry) => outbox.isSafe(entry) && !outbox.mustWait(entry, true),
      });
      for (const group of groups.filter(fits)) void requests.start(group, true);
    },
    /** The network is back: nothing waits any longer but for what the service has asked for. */
    online,
    /** The set-up has changed, so a request that was refused may pass now. */
    reconfigure: (): void => {
      trouble.end();
      online();
    },
    /** Forgets what is under way: a new life has begun. */
    forget: requests.forget,
    /** Ends everything, since nothing may be sent any more. */
    halt: (): void => {
      requests.abort();
      clearTimeout(timer);
      timerAt = Infinity;
    },
    /** How many records are in a request. */
    inFlight: (): number => [...requests.running].reduce((sum, { group }) => sum + group.length, 0),
    /** Why nothing is sent, and until when. */
    pause: (): [reason: Status['paused'], until: number] => {
      if (!held.database) return ['consent', 0];
      const { until } = trouble.read();
      return until ? [requests.state.reason, until] : [undefined, 0];
    },
  };
};

export type Pump = ReturnType<typeof createPump>;
