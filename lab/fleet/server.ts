import type { Scheduler } from './scheduler.js';
import { TICK_MS } from './scheduler.js';

/** The state of the server at one time. What is not given is as on a good day. */
export interface Weather {
  /** Share of its full capacity. */
  capacity?: number;
  /** It gives this answer to everything, at once; status 0: connections are refused. */
  answer?: { status: number; retryAfterMs?: (sinceMs: number) => number };
}

export interface Reply {
  status: number;
  retryAfterMs: number;
}

/** What happened in one second. */
export interface Second {
  sent: number;
  /** Answered with an error, refused or given up. */
  wasted: number;
  /** Stored for a client that had given up waiting. */
  repeated: number;
  /** Records that were made and are not stored yet, at its end. */
  waiting: number;
}

interface Choices {
  scheduler: Scheduler;
  random: () => number;
  /** Requests a second on a good day. */
  perSecond: number;
  troubleAt: number;
  weather: (sinceMs: number) => Weather;
}

/** The queue holds what the server can do in this time on a good day. Beyond that it answers 503 at once. */
const QUEUE_MS = 10_000;
/** Clients give up an answer after this time. */
export const TIMEOUT_MS = 30_000;
/** A request takes this long there and back, and up to so much more. */
const TRAVEL_MS = 40;
const TRAVEL_MORE_MS = 120;

interface Request {
  settle: (reply: Reply) => void;
  isGivenUp: boolean;
}

/** A server that takes requests in their order, with one queue, and does not see that a client has given up. */
export const createServer = ({ scheduler, random, perSecond, troubleAt, weather }: Choices) => {
  const seconds: Second[] = [];
  let queue: Request[] = [];
  let first = 0;
  let budget = 0;
  let waiting = 0;

  const second = (): Second => {
    const index = Math.floor(scheduler.now() / 1_000);
    while (seconds.length <= index) {
      seconds.push({ sent: 0, wasted: 0, repeated: 0, waiting });
    }
    return seconds[index]!;
  };
  const travel = () => TRAVEL_MS + random() * TRAVEL_MORE_MS;
  const current = (): Weather => {
    const since = scheduler.now() - troubleAt;
    return since < 0 ? {} : weather(since);
  };

  const refuse = (request: Request, reply: Reply) => {
    scheduler.at(scheduler.now() + travel(), () => {
      if (!request.isGivenUp) second().wasted++;
      request.settle(reply);
    });
  };

  const store = (request: Request) => {
    if (request.isGivenUp) second().repeated++;
    else
      scheduler.at(scheduler.now() + travel(), () =>
        request.settle({ status: 200, retryAfterMs: 0 }),
      );
  };

  const receive = (request: Request) => {
    const { answer } = current();
    if (answer) {
      const { status, retryAfterMs } = answer;
      refuse(request, { status, retryAfterMs: retryAfterMs?.(scheduler.now() - troubleAt) ?? 0 });
    } else if (queue.length - first >= (perSecond * QUEUE_MS) / 1_000) {
      refuse(request, { status: 503, retryAfterMs: 0 });
    } else queue.push(request);
  };

  return {
    seconds,
    /**
     * One request. `settle` is called once: with the answer, or with status 0 after the timeout. With a
     * signal, the client gives up by itself.
     */
    send: (settle: (reply: Reply) => void, signal?: AbortSignal): void => {
      second().sent++;
      let timeout = -1;
      let isSettled = false;
      const request: Request = {
        isGivenUp: false,
        settle: (reply) => {
          if (request.isGivenUp) return;
          isSettled = true;
          scheduler.cancel(timeout);
          settle(reply);
        },
      };
      const giveUp = () => {
        if (isSettled) return; // the client clears up after an answer, too
        request.isGivenUp = true;
        second().wasted++;
        settle({ status: 0, retryAfterMs: 0 });
      };
      if (signal) signal.addEventListener('abort', giveUp);
      else timeout = scheduler.at(scheduler.now() + TIMEOUT_MS, giveUp);
      receive(request);
    },
    /** Works for one tick. */
    work: (): void => {
      const { capacity = 1, answer } = current();
      if (answer?.status === 0) {
        // It is gone, with what it had not done.
        for (; first < queue.length; first++) refuse(queue[first]!, { status: 0, retryAfterMs: 0 });
      }
      budget += answer ? 0 : (perSecond * capacity * TICK_MS) / 1_000;
      for (; budget >= 1 && first < queue.length; budget--) store(queue[first++]!);
      if (first === queue.length) budget %= 1;
      if (first > 100_000) {
        queue = queue.slice(first);
        first = 0;
      }
      second().waiting = waiting;
    },
    /** Counts records that were made, and that were delivered. */
    count: (made: 1 | -1): void => {
      waiting += made;
    },
  };
};

export type Server = ReturnType<typeof createServer>;
