/** The client that is simulated. What the judge has to know of it is read from there, not copied. */
export const ENTRY = 'src/index.ts';

export { LONGEST_STORED_MS, type Gate } from '../../src/client/delivery/trouble.js';
export { LEASE_MS } from '../../src/client/outbox/held.js';
export type {
  Analytics,
  Consent,
  DropReason,
  RecordType,
  StorageKind,
} from '../../src/client/types.js';
