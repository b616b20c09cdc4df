import type { Entry } from '../outbox/parcel.js';
import { createAlarm } from './alarm.js';
import { createChoice } from './choice.js';
import type { Conclusions } from './conclusions.js';
import type { Context } from './context.js';
import { SLOW_MS } from './pauses.js';
import { createRequests } from './requests.js';

/** Pages that wait for the same moment come back spread over this long, so that one of them can probe. */
const SPREAD_MS = 500;
/** Free places wait this long for more of them, so that a write serves several requests. */
const TOGETHER_MS = 12;

const nextTask = (): Promise<void> => new Promise((done) => setTimeout(done));

/** Decides when to look for what may be sent, and goes on until nothing is under way. */
export const createPump = (context: Context, { conclude, lacksToken }: Conclusions) => {
  const { outbox, sender, health, troubles, waiters, mayRun, now, random, isHidden } = context;
  const { token } = sender;
  const requests = createRequests(context, { conclude, onFree: () => free() });
  const alarm = createAlarm(now, () => pump());
  /** Own records up to here are due; those called since wait for the next flush. */
  let horizon = 0;
  const isDue = (entry: Entry): boolean =>
    entry.order <= horizon && troubles.see(entry).dueAt <= now();
  const choice = createChoice(context, { requests, isDue });
  /** The last look found nothing that may be sent, though nothing keeps the destination back. */
  let isStarving = false;
  /** Requests that have been chosen, and named by one write, but not started: they go before others are chosen. */
  let left = 0;
  /** Waits for storage or a token, after which it goes on by itself. */
  let pending = 0;

  const whenDone = async (work: Promise<unknown>): Promise<void> => {
    pending++;
    await work;
    pending--;
    pump();
  };

  /** While nothing may be sent, what is stored need not be read yet. */
  const wantsMore = (): boolean => !health.pause()[0] && outbox.wantsMore(isStarving);

  const isReady = (): boolean => !token || token.get() !== undefined;

  const askToken = async (): Promise<void> => {
    const problem = await token?.ask();
    if (problem && mayRun()) lacksToken(problem);
  };

  /** Starts what is due and may go now. */
  const sendDue = (time: number): void => {
    const wasLeft = left;
    const places = Math.min(requests.places(), wasLeft || Infinity);
    if (places > 0) {
      const groups = choice.next(places);
      isStarving = groups.length === 0;
      // A hidden page may be gone before the database has been prepared.
      const prepared = isHidden() ? undefined : outbox.prepare(groups.flat());
      const ready = groups.filter((group) => group.every(outbox.canSend));
      // One request a task: `fetch` takes a millisecond or more. A hidden page has no other task to count on.
      const first = isHidden() ? ready : ready.slice(0, 1);
      for (const group of first) void requests.start(group, false);
      left = groups.length - first.length;
      if (prepared) void whenDone(prepared);
      if (ready.length > first.length) void whenDone(nextTask());
      else if (wasLeft) alarm.setBy(time + TOGETHER_MS); // other places may have come free meanwhile
    }
    const next = troubles.nextDue(time, SLOW_MS);
    if (next < Infinity) alarm.setBy(next);
  };

  const sendNow = (): void => {
    const time = now();
    outbox.tidy();
    const [reason, until] = health.pause();
    if (!reason && isReady()) sendDue(time);
    else {
      void outbox.prepare([]);
      if (until > 0) alarm.setBy(until + random() * SPREAD_MS);
      else if (!reason && pending === 0 && outbox.count() > 0) void whenDone(askToken());
    }
    settle();
  };

  const settle = (): void => {
    if (mayRun() && (pending > 0 || wantsMore())) return;
    waiters.settle((last) => requests.entries().some(({ order }) => order <= last), outbox.waiting);
  };

  /** Goes on with what is under way. */
  const pump = (): void => {
    sendNow();
    if (wantsMore()) void whenDone(outbox.refill(isStarving));
  };

  /** A request has left its place free. */
  const free = (): void => {
    // Answers that come close together free places together: one write for several requests.
    if (requests.count() === 0) pump();
    else alarm.setBy(now() + TOGETHER_MS);
  };

  return {
    pump,
    /** Attempts everything that waits by now. */
    flushAll: (): void => {
      horizon = outbox.latest();
      pump();
    },
    /** There is what a request needs. */
    isReady,
    /** Gives the browser what it takes from a page that goes away. */
    handOff: (): void => {
      if (!isReady()) return;
      horizon = outbox.latest();
      void outbox.prepare([]); // there is no time to wait for what was being prepared
      for (const group of choice.leaving()) void requests.start(group, true);
    },
    /** Records without an answer yet. */
    inFlight: (): number => requests.entries().length,
    /** Gives up the requests that are under way: nothing may be sent any more. */
    halt: (): void => {
      sender.abort();
      requests.entries().forEach(outbox.abandon);
      requests.clear();
      alarm.stop();
      settle();
    },
  };
};
