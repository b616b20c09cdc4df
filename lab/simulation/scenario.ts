import type { ServiceMode } from './service.js';

/** How an engine treats a page that goes away (see docs/limits.md). */
export type Engine = 'chromium' | 'firefox' | 'webkit';

export interface Setup {
  engine: Engine;
  /** Straight to the service, with or without keys; or through a relay. */
  way: 'direct' | 'keyed' | 'relay';
  /** The page has `requestIdleCallback`. */
  hasIdleCallback: boolean;
  /** Site data is blocked: no localStorage. */
  hasNoShelf: boolean;
  options: Record<string, number>;
}

export interface Call {
  type: 'identify' | 'event';
  name: string;
  /** Of an event: undefined for the identified user. */
  user: string | undefined;
}

/** What happens to the world at one moment. `page` counts among those there are then. */
export type Action = { at: number } & (
  | { do: 'call'; page: number; calls: Call[] }
  | { do: 'open' }
  | { do: 'leave'; page: number }
  | { do: 'navigate'; page: number }
  | { do: 'cache'; page: number }
  | { do: 'return'; page: number }
  | { do: 'evict'; page: number }
  | { do: 'kill'; page: number; after: number }
  | { do: 'kill browser'; loses: number }
  | { do: 'freeze'; page: number }
  | { do: 'thaw'; page: number }
  | { do: 'hide'; page: number }
  | { do: 'show'; page: number }
  | { do: 'service'; mode: ServiceMode }
  | { do: 'network'; isOnline: boolean }
  | { do: 'budget'; isTaken: boolean }
  | { do: 'storage'; trouble: 'aborts' | 'hangs' | 'refuses' | 'slow' | 'none' }
  | { do: 'close storage'; page: number }
  | { do: 'clear storage' }
  | { do: 'shelf'; isFull: boolean }
  | { do: 'foreign record' }
  | { do: 'clock'; by: number }
  | { do: 'flush'; page: number }
  | { do: 'reset'; page: number }
  | { do: 'consent'; page: number; consent: 'granted' | 'pending' | 'denied' }
  | { do: 'destination'; page: number }
  | { do: 'token' }
);

export interface Scenario {
  seed: number;
  setup: Setup;
  actions: Action[];
}
