import { readIpAddress } from './ip-address.js';

/** What is no address may be a header that a client has written, of any length. */
const MAX_LENGTH = 128;

/**
 * What a client is counted by. A provider gives each customer the last 64 bits of an IPv6 address at least,
 * so these tell nobody apart. What is no address, such as the name of a session, stands for itself.
 */
export const clientKeyOf = (address: unknown): string | undefined => {
  if (address === undefined || address === null || address === '') return undefined;
  if (typeof address !== 'string') throw new TypeError('`clientAddress` must give a string');
  const ip = readIpAddress(address);
  if (!ip) return address.slice(0, MAX_LENGTH);
  return 'v4' in ip ? ip.v4 : `${ip.groups.slice(0, 4).join(':')}::/64`;
};
