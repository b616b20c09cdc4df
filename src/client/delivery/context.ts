import type { Outbox } from '../outbox/outbox.js';
import type { DeliveryError, Outcome, OutboxRecord } from '../types.js';
import type { Batching } from './batching.js';
import type { Gate } from './gate.js';
import type { Health } from './health.js';
import type { Sender } from './sender.js';
import type { Troubles } from './troubles.js';
import type { Waiters } from './waiters.js';

/** What delivery needs from outside. */
export interface DeliveryEffects {
  outbox: Outbox;
  sender: Sender;
  gate: Gate;
  /** Whether storage and network may be used. */
  mayRun: () => boolean;
  concurrency: () => number;
  /** Whether requests go to the page's own origin. */
  isOwnOrigin: boolean;
  now: () => number;
  random: () => number;
  isOnline: () => boolean;
  isHidden: () => boolean;
  /** Whether the receiver stores once what is sent to it twice. */
  knowsRepeats: () => boolean;
  onSent: (record: OutboxRecord, handoff: boolean) => void;
  onOutcome: (record: OutboxRecord, outcome: Outcome, status: number) => void;
  onError: (error: DeliveryError) => void;
}

/** What the parts of delivery share. */
export interface Context extends DeliveryEffects {
  troubles: Troubles;
  health: Health;
  batching: Batching;
  waiters: Waiters;
}
