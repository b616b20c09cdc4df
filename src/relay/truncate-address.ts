/**
 * An address without the part that names one household: the first 24 bits of IPv4, 48 of IPv6. Anything
 * else is left out, for it goes into a header.
 */
export const truncateAddress = (address: string): string | undefined => {
  const [, v4] = /^(?:::ffff:)?((?:\d{1,3}\.){3})\d{1,3}$/i.exec(address) ?? [];
  if (v4) return `${v4}0`;
  // The URL parser knows what an address is, and has one way of writing it
  // (https://url.spec.whatwg.org/#concept-ipv6-serializer): `::` stands for two groups at the least.
  const url = `http://[${address}]`;
  if (!URL.canParse(url)) return undefined;
  const [head] = new URL(url).hostname.slice(1, -1).split('::');
  const groups = [...head!.split(':').filter(Boolean), '0', '0', '0'];
  return `${groups.slice(0, 3).join(':')}::`;
};
