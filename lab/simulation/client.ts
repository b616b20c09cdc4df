/** The client that is simulated. What the judge has to know of it is read from there, not copied. */
export const ENTRY = 'src/index.ts';

export type { Gate } from '../../src/client/delivery/backoff.js';
export { LONGEST_STORED_MS } from '../../src/interface/backoff.js';
export { LEASE_MS } from '../../src/client/outbox/lease.js';
export type {
  Analytics,
  Consent,
  DropReason,
  RecordType,
  StorageKind,
} from '../../src/client/types.js';
