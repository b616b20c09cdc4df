import type { Entry } from '../outbox/parcel.js';
import { createAlarm } from './alarm.js';
import { createChoice } from './choice.js';
import type { Conclusions } from './conclusions.js';
import type { Context } from './context.js';
import { createRequests } from './requests.js';

/** Pages that wait for the same moment look again spread over this time, so that one of them can probe. */
const SPREAD_MS = 500;
/** A free place waits this long for others, so that one write can name the records of several requests. */
const TOGETHER_MS = 12;

const nextTask = (): Promise<void> => new Promise((done) => setTimeout(done));

/** Looks for what may be sent, and goes on until nothing is left to do. */
export const createPump = (context: Context, { conclude, lacksToken }: Conclusions) => {
  const { outbox, sender, health, troubles, waiters, mayRun, now, random, isHidden } = context;
  const { token } = sender;
  const requests = createRequests(context, { conclude, onFree: () => free() });
  const alarm = createAlarm(now, () => pump());
  /** Records up to this place in the order of calls are due. Those of later calls wait for the next flush. */
  let horizon = 0;
  const isAsked = (entry: Entry): boolean => entry.order <= horizon;
  const choice = createChoice(context, { requests, isAsked });
  /** The last look found nothing that may be sent, although the destination may be asked. */
  let isStarving = false;
  /** Requests that one write has named and that are not started yet. They go before others are chosen. */
  let left = 0;
  /** How many waits are under way, for storage, a token or the next task. The pump goes on after each. */
  let pending = 0;

  const whenDone = async (work: Promise<unknown>): Promise<void> => {
    pending++;
    await work;
    pending--;
    pump();
  };

  /** Whether to read more records from the database. While nothing may be sent, that can wait. */
  const wantsMore = (): boolean => !health.pause()[0] && outbox.wantsMore(isStarving);

  const isReady = (): boolean => !token || token.get() !== undefined;

  const askToken = async (): Promise<void> => {
    const problem = await token?.ask();
    if (problem && mayRun()) lacksToken(problem);
  };

  /** Starts the requests that are due and may go now. */
  const sendDue = (time: number): void => {
    const wasLeft = left;
    const places = Math.min(requests.places(), wasLeft || Infinity);
    if (places > 0) {
      const groups = choice.next(places);
      isStarving = groups.length === 0;
      // A hidden page does not wait for the database, since it may be gone before the write is done.
      const prepared = isHidden() ? undefined : outbox.prepare(groups.flat());
      const ready = groups.filter((group) => group.every(outbox.canSend));
      // One request starts in each task: `fetch` takes a millisecond or more. A hidden page may get no other task.
      const first = isHidden() ? ready : ready.slice(0, 1);
      for (const group of first) void requests.start(group, false);
      left = groups.length - first.length;
      if (prepared) void whenDone(prepared);
      if (ready.length > first.length) void whenDone(nextTask());
      else if (wasLeft) alarm.setBy(time + TOGETHER_MS); // other places may have become free meanwhile
    }
    const next = troubles.nextDue(time);
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

  /** Sends what may be sent, and reads more from the database if memory has too little. */
  const pump = (): void => {
    sendNow();
    if (wantsMore()) void whenDone(outbox.refill(isStarving));
  };

  /** Called when a request has left its place free. */
  const free = (): void => {
    // Answers often come close together. Then one write serves the requests in all places that they leave free.
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
    /** Whether there is a token, if one is needed. */
    isReady,
    /** Hands off what the browser takes from a page that goes away. */
    handOff: (): void => {
      if (!isReady()) return;
      horizon = outbox.latest();
      void outbox.prepare([]); // takes back what was being prepared: there is no time to wait for it
      for (const group of choice.leaving()) void requests.start(group, true);
    },
    /** How many records have no answer yet. */
    inFlight: (): number => requests.entries().length,
    /** Gives up the requests that are under way, since nothing may be sent any more. */
    halt: (): void => {
      sender.abort();
      requests.entries().forEach(outbox.abandon);
      requests.clear();
      alarm.stop();
      settle();
    },
  };
};
