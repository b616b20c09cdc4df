import { readIpAddress } from './ip-address.js';

/**
 * An address without the part that identifies a household: the first 24 bits of IPv4, or 48 of IPv6. Anything
 * else gives undefined, because the result goes into a header.
 */
export const truncateAddress = (address: string): string | undefined => {
  const ip = readIpAddress(address);
  if (!ip) return undefined;
  return 'v4' in ip ? ip.v4.replace(/\d+$/, '0') : `${ip.groups.slice(0, 3).join(':')}::`;
};
