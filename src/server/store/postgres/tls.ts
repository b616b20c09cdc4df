import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { messageOf } from '../../../util/errors.js';

/** How a connection is made: without TLS, or with these options of Node's. */
export type Tls = false | ConnectionOptions;

/** Settings of libpq that we read ourselves, since the driver takes `require` and `verify-ca` for `verify-full`. */
const OURS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'] as const;

const fileOf = (name: string, path: string | undefined): string | undefined => {
  if (!path) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`\`${name}\`: ${messageOf(error)}`, { cause: error });
  }
};

/**
 * Reads the TLS settings of an address, with the meaning that they have in libpq:
 * https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-SSLMODE-STATEMENTS Returns the address for the
 * driver, and the ways to try in turn. Settings that are not in the address are read from the environment (`PGSSLMODE`
 * and so on).
 */
export const readTls = (url: string): { connectionString: string; ways: readonly Tls[] } => {
  const [address = '', query = ''] = url.split(/\?(.*)/s);
  const given = new URLSearchParams(query);
  // A setting of the driver, unknown to libpq: leave TLS to the driver.
  if (given.has('ssl')) return { connectionString: url, ways: [] };
  const read = (name: string) => given.get(name) || process.env[`PG${name.toUpperCase()}`];
  const [mode, root] = [read('sslmode'), read('sslrootcert')];
  const own = { cert: fileOf('sslcert', read('sslcert')), key: fileOf('sslkey', read('sslkey')) };
  const isSystem = root === 'system';
  const ca = isSystem ? undefined : fileOf('sslrootcert', root);
  for (const name of OURS) given.delete(name);
  const rest = given.toString();
  return {
    connectionString: rest ? `${address}?${rest}` : address,
    ways: waysOf(isSystem ? 'verify-full' : (mode ?? 'prefer'), ca, own),
  };
};

const waysOf = (mode: string, ca: string | undefined, own: ConnectionOptions): readonly Tls[] => {
  const unverified = { ...own, rejectUnauthorized: false };
  const ofCa = { ...own, ca, checkServerIdentity: () => undefined };
  switch (mode) {
    case 'disable':
      return [false];
    case 'allow':
      return [false, unverified];
    case 'prefer':
      return [unverified, false];
    case 'no-verify': // a mode of the driver
      return [unverified];
    case 'require':
      return [ca ? ofCa : unverified];
    case 'verify-ca':
      if (!ca) throw new Error('`sslmode=verify-ca` needs `sslrootcert`, the file of the CA');
      return [ofCa];
    case 'verify-full':
      return [{ ...own, ...(ca && { ca }) }];
    default:
      throw new Error(
        '`sslmode` must be disable, allow, prefer, require, verify-ca or verify-full',
      );
  }
};
