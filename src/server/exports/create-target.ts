import { createClickhouseTarget } from './clickhouse.js';
import { createFilesTarget } from './files.js';
import { createPostgresTarget } from './postgres.js';
import type { Store } from '../store/port.js';
import type { Target } from './target.js';

const FILE = 'file:';
const POSTGRES = /^postgres(ql)?:/;

/** Why an address names no target, in words that say what it must be; undefined if it names one. */
export const faultOfAddress = (address: string): string | undefined => {
  // A shell replaces `~` at the start of a word only. Behind `file:` it would become a folder of that name.
  if (address.startsWith(FILE))
    return /^file:[^~]/.test(address) ? undefined : 'must name a folder';
  try {
    createTarget(address);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

const notOpened = (): Promise<Store> => Promise.reject(new Error('there is no way to open it'));

/**
 * Makes the target that an address names: `clickhouse://…`, `postgres://…`, or `file:` and a folder. `openStore` opens a
 * Postgres.
 */
export const createTarget = (
  address: string,
  openStore: (address: string) => Promise<Store> = notOpened,
): Target => {
  if (address.startsWith(FILE)) return createFilesTarget(address.slice(FILE.length));
  return POSTGRES.test(address)
    ? createPostgresTarget(address, openStore)
    : createClickhouseTarget(address);
};
