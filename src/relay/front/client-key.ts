import { readIpAddress } from './ip-address.js';

/** The value may be a header that a client wrote, of any length. */
const MAX_LENGTH = 128;

/**
 * The key under which a client is counted. A provider gives each customer at least the last 64 bits of an
 * IPv6 address, so these are left out. A value that is no address, such as the id of a session, is used as it
 * is.
 */
export const clientKeyOf = (address: unknown): string | undefined => {
  if (address === undefined || address === null || address === '') return undefined;
  if (typeof address !== 'string') throw new TypeError('`clientAddress` must give a string');
  const ip = readIpAddress(address);
  // Copied: a slice would keep all of a long header in memory.
  if (!ip) return [...address.slice(0, MAX_LENGTH)].join('');
  return 'v4' in ip ? ip.v4 : `${ip.groups.slice(0, 4).join(':')}::/64`;
};
