/** An IPv4 address, or the eight groups of an IPv6 one, each written in one way. */
export type IpAddress = { v4: string } | { groups: string[] };

/**
 * Reads an address as sockets and proxies write it: also `[2001:db8::1]:443`, `192.0.2.1:443` and
 * `fe80::1%eth0`. An IPv4 address that is mapped into IPv6 is an IPv4 address in any spelling.
 */
export const readIpAddress = (text: string): IpAddress | undefined => {
  const bare = text.trim().replace(/^\[([^\]]*)\](:\d+)?$/, '$1');
  const [, v4] = /^((?:\d{1,3}\.){3}\d{1,3})(?::\d+)?$/.exec(bare) ?? [];
  if (v4) return readV4(v4);
  const groups = readV6(bare.replace(/%\w+$/, ''));
  if (groups?.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return groups && { groups };
  const bytes = groups.slice(6).flatMap((group) => {
    const bits = parseInt(group, 16);
    return [bits >> 8, bits & 255];
  });
  return { v4: bytes.join('.') };
};

const readV4 = (text: string): IpAddress | undefined => {
  const bytes = text.split('.').map(Number);
  return bytes.every((byte) => byte < 256) ? { v4: bytes.join('.') } : undefined;
};

const readV6 = (text: string): string[] | undefined => {
  // The URL parser knows what an address is, and has one way of writing it
  // (https://url.spec.whatwg.org/#concept-ipv6-serializer): `::` stands for two groups at the least.
  const url = `http://[${text}]`;
  if (!/^[\da-f:.]+$/i.test(text) || !URL.canParse(url)) return undefined;
  const [head, tail] = new URL(url).hostname
    .slice(1, -1)
    .split('::')
    .map((half) => half.split(':').filter(Boolean));
  const zeros = Array<string>(8 - head!.length - (tail?.length ?? 0)).fill('0');
  return [...head!, ...zeros, ...(tail ?? [])];
};
