/**
 * The client that is simulated: the one that is shipped or, with CORE set, the new one. What the judge has to know of
 * it is read from there, not copied.
 */
export const ENTRY = process.env['CORE'] ? 'src/core/entry/index.ts' : 'src/index.ts';

export { LONGEST_STORED_MS, type Gate } from '../../src/core/delivery/trouble.js';
export { LEASE_MS } from '../../src/core/outbox/held.js';
export type {
  Analytics,
  Consent,
  DropReason,
  RecordType,
  StorageKind,
} from '../../src/core/types.js';
