import type { Outbox } from '../outbox/outbox.js';
import { createAlarm } from './alarm.js';
import type { Dispatch } from './dispatch.js';
import type { Health } from './health.js';
import { SLOW_MS } from './pauses.js';
import type { Requests } from './requests.js';
import type { Access } from './sender.js';
import type { Troubles } from './troubles.js';
import type { Waiters } from './waiters.js';

/** Pages that wait for the same moment come back spread over this long, so that one of them can probe. */
const SPREAD_MS = 500;
/** Free places wait this long for more of them, so that a write serves several requests. */
const TOGETHER_MS = 12;

interface Effects {
  outbox: Outbox;
  access: Access | undefined;
  health: Health;
  troubles: Troubles;
  requests: Requests;
  waiters: Waiters;
  dispatch: Dispatch;
  now: () => number;
  random: () => number;
  /** There is no token. */
  lacksToken: (problem: string) => void;
}

/** Decides when to look for what may be sent, and goes on until nothing is under way. */
export const createPump = (effects: Effects) => {
  const { outbox, access, health, troubles, requests, waiters, dispatch, now, random } = effects;
  const alarm = createAlarm(now, SLOW_MS, () => pump());
  /** Own records up to here are due; those called since wait for the next flush. */
  let horizon = 0;
  let isStopped = false;
  /** The last look found nothing that may be sent, though nothing keeps the destination back. */
  let isStarving = false;
  /** The last look found that nothing may be sent: what is stored need not be read yet. */
  let isPaused = false;
  /** Waits for storage or a token, after which it goes on by itself. */
  let pending = 0;

  const whenDone = async (work: Promise<unknown>): Promise<void> => {
    pending++;
    await work;
    pending--;
    pump();
  };

  const wantsMore = (): boolean => !isStopped && !isPaused && outbox.wantsMore(isStarving);

  const isReady = (): boolean => access?.isReady() ?? true;

  const askToken = async (): Promise<void> => {
    const problem = await access?.ask();
    if (problem && !isStopped) effects.lacksToken(problem);
  };

  const sendNow = (): void => {
    if (isStopped) return;
    const time = now();
    outbox.tidy();
    isStarving = false;
    const [reason, until] = health.pause(time);
    isPaused = !!reason;
    if (!reason && isReady()) {
      const { due, prepared } = dispatch.due(time, horizon);
      isStarving = due === 0;
      if (prepared) void whenDone(prepared);
      const next = Math.min(troubles.nextDue(time, SLOW_MS), requests.firstUntil(time));
      if (next < Infinity) alarm.setBy(next);
    } else {
      void outbox.prepare([]);
      if (reason) alarm.setBy(until + random() * SPREAD_MS);
      else if (pending === 0 && outbox.count() > 0) void whenDone(askToken());
    }
    settle();
  };

  const settle = (): void => {
    if (!isStopped && (pending > 0 || wantsMore())) return;
    waiters.settle((last) => requests.entries().some(({ order }) => order <= last), outbox.waiting);
  };

  /** Goes on with what is under way. */
  const pump = (): void => {
    sendNow();
    if (wantsMore()) void whenDone(outbox.refill(isStarving));
  };

  return {
    pump,
    /** Makes everything due that waits by now. */
    makeDue: (): void => {
      horizon = outbox.latest();
    },
    /** A request has left its place free. */
    free: (): void => {
      // Answers that come close together free places together: one write for several requests.
      if (requests.count() === 0) pump();
      else alarm.setBy(now() + TOGETHER_MS);
    },
    /** There is what a request needs. */
    isReady,
    /** Gives the browser what it takes from a page that goes away. */
    handOff: (): void => {
      if (!isStopped && isReady()) dispatch.leaving(now(), horizon);
    },
    stop: (): void => {
      isStopped = true;
      alarm.stop();
      settle();
    },
  };
};
