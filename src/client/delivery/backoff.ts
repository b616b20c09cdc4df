import { ahead, CAP_MS, waitInTrouble } from '../../interface/backoff.js';
import { mayFail } from '../../util/may-fail.js';
import { getItem, now, setItem } from '../page.js';

/** The network may be back for many visitors at the same moment, so their pages go on spread over this time. */
const ONLINE_MS = 2_000;

export interface Gate {
  /** The first failure without a success since; 0 if there is none. */
  since: number;
  /** Nothing is sent until then; 0 if something may be. */
  until: number;
  /** The service itself has asked for that wait. */
  isAsked?: boolean | undefined;
}

const OPEN: Gate = { since: 0, until: 0 };

/** The wait after failures of a destination. It is kept in localStorage, so that all pages of the site obey it. */
export const createBackoff = (key: string) => {
  /** The gate as this page knows it, for where localStorage does not take it, or the site clears it. */
  let own = OPEN;

  /** The gate as it is now. */
  const read = (): Gate => {
    own = mayFail(() => JSON.parse(getItem(key)!) as Gate | null) ?? own;
    const until = ahead(own.until, now());
    return { ...own, until, isAsked: until > 0 && own.isAsked };
  };
  const write = (gate: Gate) => {
    own = gate;
    setItem(key, JSON.stringify(gate));
  };

  return {
    read,
    /** Called after a failure. While the gate is closed, it changes nothing, unless the service asks for a wait. */
    failed: (retryAfterMs: number): void => {
      const gate = read();
      if (gate.until && !retryAfterMs) return;
      const time = now();
      const since = Math.min(gate.since || time, time); // the clock may have been set back since
      const jitter = Math.random() * Math.min(CAP_MS, retryAfterMs / 2);
      const wait = Math.max(waitInTrouble(time - since, Math.random()), retryAfterMs + jitter);
      write({ since, until: Math.max(gate.until, time + wait), isAsked: retryAfterMs > 0 });
    },
    /** Called when the network is back. It ends a wait, unless the service has asked for it. */
    online: (): void => {
      const gate = read();
      if (gate.until && !gate.isAsked) write({ ...gate, until: now() + Math.random() * ONLINE_MS });
    },
    /** Called when the service has taken a record. A wait that it has asked for goes on. */
    passed: (): void => {
      const { since, isAsked } = read();
      if (since && !isAsked) write(OPEN); // other pages have to read that it is open
    },
    /** Called when the set-up has changed. */
    end: (): void => write(OPEN),
  };
};

export type Backoff = ReturnType<typeof createBackoff>;
