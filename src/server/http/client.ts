import { hexOf } from '../tokens.js';

/** Options that say who sent a request. */
export interface ClientOptions {
  /**
   * Gives the client's address, from a source that no client can forge; required, unless `rateLimit` is `false`. Use
   * that of the socket on Node, and `cf-connecting-ip` on Cloudflare; `X-Forwarded-For` only behind a proxy that writes
   * it. Clients of one IPv6 network (/64) count as one, and so do all clients for which it gives nothing.
   */
  clientAddress?: ((request: Request) => string | undefined) | undefined;
}

/** The value may be a header that a client wrote, of any length. */
const MAX_LENGTH = 128;

/**
 * Reads an address as sockets and proxies write it: also `[2001:db8::1]:443`, `192.0.2.1:443` and `fe80::1%eth0`.
 * Returns the four bytes of IPv4, in any spelling, or the eight groups of IPv6.
 */
export const readIpAddress = (text: string): readonly string[] | undefined => {
  const bare = text.trim().replace(/^\[([^\]]*)\](:\d+)?$/, '$1');
  const [, v4] = /^((?:\d{1,3}\.){3}\d{1,3})(?::\d+)?$/.exec(bare) ?? [];
  if (v4) {
    const bytes = v4.split('.').map(Number);
    return bytes.every((byte) => byte < 256) ? bytes.map(String) : undefined;
  }
  const groups = readV6(bare.replace(/%\w+$/, ''));
  if (groups?.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return groups;
  // An IPv4 address that is mapped into IPv6.
  return groups.slice(6).flatMap((group) => {
    const bits = parseInt(group, 16);
    return [`${bits >> 8}`, `${bits & 255}`];
  });
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

/**
 * The key under which a client is counted; '' if its address is not known. The last 64 bits of an IPv6 address are left
 * out, since each customer of a provider has at least all of these. A value that is no address, such as the id of a
 * session, is used as it is.
 */
export const clientKeyOf = (address: unknown): string => {
  if (address === undefined || address === null || address === '') return '';
  if (typeof address !== 'string') throw new TypeError('must give a string');
  const ip = readIpAddress(address);
  // A copy, since a slice would keep the whole header in memory.
  if (!ip) return [...address.slice(0, MAX_LENGTH)].join('');
  return ip.length === 4 ? ip.join('.') : `${ip.slice(0, 4).join(':')}::/64`;
};

/** The network of a client's key: the first 24 bits of IPv4, or 48 of IPv6. What is no address is a network of its own. */
export const networkOf = (key: string): string =>
  key
    .replace(/^(\d+\.\d+\.\d+)\.\d+$/, '$1.0/24')
    .replace(/^((?:[\da-f]{1,4}:){3})[\da-f]{1,4}::\/64$/, '$1:/48');

/** The first 32 bits of an IPv6 network, which is what a provider has. */
export const blockOf = (network: string): string | undefined => {
  const [, block] = /^((?:[\da-f]{1,4}:){2})[\da-f]{1,4}::\/48$/.exec(network) ?? [];
  return block && `${block}:/32`;
};

/**
 * An address without the part that identifies a household: the first 24 bits of IPv4, or 48 of IPv6. Anything
 * else gives undefined, because the result goes into a header.
 */
export const truncateAddress = (address: string): string | undefined => {
  const ip = readIpAddress(address);
  const network = ip?.slice(0, 3);
  return network && (ip?.length === 4 ? `${network.join('.')}.0` : `${network.join(':')}::`);
};

/** Words remembered: a client sends many requests. */
const MAX_KNOWN = 10_000;
const WORD_LENGTH = 12;

/**
 * Turns the address of a client into an opaque word, which may be stored: without the secret nobody can find the
 * address from it, not even by trying all addresses. If no secret is given, one is made and kept nowhere. '' stays ''.
 * Rejects if the secret cannot be read; the next call tries again.
 */
export const createOpaqueWord = (secret?: string | (() => Promise<string>)) => {
  const known = new Map<string, string>();
  /** Made when it is first needed, since some platforms forbid such work while a script is loaded. */
  let key: Promise<CryptoKey> | undefined;

  const makeKey = async (): Promise<CryptoKey> => {
    const text = typeof secret === 'function' ? await secret() : secret;
    const bytes = text
      ? new TextEncoder().encode(`client ${text}`)
      : crypto.getRandomValues(new Uint8Array(32));
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    return crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  };
  const sign = async (text: string): Promise<string> => {
    key ??= makeKey().catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    const signed = await crypto.subtle.sign('HMAC', await key, new TextEncoder().encode(text));
    return hexOf(new Uint8Array(signed)).slice(0, WORD_LENGTH);
  };

  return async (text: string): Promise<string> => {
    const word = known.get(text) ?? (text && (await sign(text)));
    known.delete(text);
    known.set(text, word);
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
    return word;
  };
};

/**
 * The same with a secret of the day, so that a client has the same word in all processes and after a restart, and another
 * one on another day.
 */
export const createDailyWord = (secretOf: (day: string) => Promise<string>, now: () => number) => {
  let day = '';
  let wordOf = createOpaqueWord();
  return (text: string): Promise<string> => {
    const today = new Date(now()).toISOString().slice(0, 10);
    if (today !== day) wordOf = createOpaqueWord(() => secretOf(today));
    day = today;
    return wordOf(text);
  };
};
