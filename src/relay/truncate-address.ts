/**
 * An address without the part that names one household: the first 24 bits of IPv4, 48 of IPv6. Anything
 * else is left out, for it goes into a header.
 */
export const truncateAddress = (address: string): string | undefined => {
  const v4 = /^(?:::ffff:)?(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/i.exec(address);
  if (v4) return `${v4[1]!}.0`;
  const plain = address.replace(/%.*$/, ''); // a zone
  if (!/^[\da-f:]+$/i.test(plain) || !plain.includes(':')) return undefined;
  const [before, ...rest] = plain.split('::');
  if (rest.length > 1) return undefined;
  const head = before ? before.split(':') : [];
  const tail = rest[0] ? rest[0].split(':') : [];
  const gap = rest.length ? 8 - head.length - tail.length : 0;
  if (gap < 0) return undefined;
  const groups = [...head, ...Array<string>(gap).fill('0'), ...tail];
  if (groups.length !== 8 || groups.some((group) => !/^[\da-f]{1,4}$/i.test(group))) {
    return undefined;
  }
  return `${groups.slice(0, 3).join(':').toLowerCase()}::`;
};
