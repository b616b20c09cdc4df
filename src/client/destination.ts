import type { Settings } from './options.js';
import type { DropReason, Listeners, OutboxRecord } from './types.js';

/** Tells the listeners of an event. */
export type Emit = <Type extends keyof Listeners>(type: Type, payload: Listeners[Type]) => void;

/** Where records go: an address and a project. Records made for one destination are never sent to another. */
export interface Destination {
  /** Begins the names of all that is stored for it. */
  name: string;
  settings: () => Settings;
  /** The client's clock: milliseconds since the epoch. */
  now: () => number;
  emit: Emit;
  /** Tells of a dropped call or record. The message says more than the reason, if there is more to say. */
  drop: (reason: DropReason, record?: OutboxRecord, message?: string) => void;
}

/**
 * The name consists of address and project, never of the token. The same address is one destination as a relay and
 * another as a service, since only records for a relay may be sent again.
 */
export const nameOf = ({ relay, baseUrl = '', project }: Settings): string =>
  ['analytics-outbox', relay ? `relay:${relay}` : baseUrl, project].map(encodeURI).join(' ');
