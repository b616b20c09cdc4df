import type { Trouble } from './indexed-db.js';
import type { ServiceMode } from './service.js';

export interface Setup {
  /** How an engine treats a page that goes away (measured: see docs/promise.md). */
  engine: 'chromium' | 'firefox' | 'webkit';
  /** Straight to the service, with or without keys; or through a relay. */
  way: 'direct' | 'keyed' | 'relay';
  hasIdleCallback: boolean;
  options: Record<string, number>;
}

export interface Call {
  isEvent: boolean;
  /** Of an event: undefined for the identified user. */
  user: string | undefined;
  /** The service refuses it. */
  isBad: boolean;
  /** Something on the way dislikes it, if it is an event. */
  isDisliked: boolean;
}

/** What happens at one moment. `page` counts among the pages that it can happen to. */
export type Action =
  | { do: 'open' }
  | { do: 'call'; page: number; calls: Call[] }
  | { do: 'leave' | 'navigate'; page: number }
  /** The page stands still for so long, as soon as nothing of it is under way. */
  | { do: 'freeze'; page: number; ms: number }
  | { do: 'cache'; page: number; ms: number; isEvicted: boolean }
  | { do: 'hide' | 'show' | 'flush' | 'reset' | 'destination'; page: number }
  | { do: 'pause consent'; page: number; ms: number }
  /** The page dies after so many effects on the world; 0 for at once. */
  | { do: 'kill'; page: number; after: number }
  /** What was written into localStorage in the last `losesMs` is lost. */
  | { do: 'kill browser'; losesMs: number }
  | { do: 'service'; mode: ServiceMode }
  | { do: 'network'; isOnline: boolean }
  | { do: 'budget'; isTaken: boolean }
  | { do: 'token' };

/** What goes wrong with what pages store and know. */
export interface Fault {
  /** From 0 to 1: when in the world it begins. */
  at: number;
  /** Milliseconds. */
  lasts: number;
  what:
    | { do: 'storage'; trouble: Partial<Trouble> }
    | { do: 'full shelf' }
    | { do: 'close storage' }
    | { do: 'clock'; by: number }
    | { do: 'clear' };
}

export interface Scenario {
  /** Of what chance brings: latencies, and what the browser still does for a page that is gone. */
  seed: number;
  setup: Setup;
  /** `gap`: milliseconds since the one before. */
  actions: { gap: number; action: Action }[];
  faults: Fault[];
  ending: 'visit' | 'denial';
}
