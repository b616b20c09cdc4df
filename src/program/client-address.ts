import { isIP } from 'node:net';
import { createNetworks } from '../server/http/networks.js';

/** Proxies whose headers are believed: how many, or their networks. */
export type TrustedProxies = number | readonly string[];

interface Place {
  /** The header in which a proxy names the client. */
  header?: string | undefined;
  trusted?: TrustedProxies | undefined;
  /** Called once, if the settings seem to be wrong. */
  warn?: (words: string) => void;
}

/** After this many requests in a row that do not fit the settings, a setting is probably wrong. */
const MANY = 20;

/** An address as proxies write it, without its port and brackets: `[2001:db8::1]:443`, `192.0.2.1:5678`. */
const bareOf = (text: string): string =>
  text
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1');

/** The addresses that a header names, the client's first. `Forwarded` has pairs (RFC 7239, section 4). */
const addressesIn = (header: string, value: string | null): string[] =>
  (value ?? '')
    .split(',')
    .map((part) => (header === 'forwarded' ? /(?:^|;)\s*for=([^;]+)/i.exec(part)?.[1] : part))
    .map((part) => bareOf(part ?? ''));

/**
 * Finds the client of a request: the other end of the connection or, if that is a trusted proxy, the address that the
 * proxy names. In the header it is the first address from the right that is no trusted proxy. The client may have
 * invented everything to its left.
 */
export const createClientAddress = ({ header: named, trusted, warn }: Place = {}) => {
  const addresses = new WeakMap<Request, string | undefined>();
  const header = named?.toLowerCase() ?? (trusted === undefined ? undefined : 'x-forwarded-for');
  const isTrusted = typeof trusted === 'object' ? createNetworks(trusted) : undefined;
  /** Requests in a row that hint at a wrong setting. */
  let odd = 0;

  const watch = ({ headers, method }: Request): void => {
    // Health checks do not come through the proxies.
    if (odd >= MANY || method !== 'POST') return;
    const isOdd = header ? !headers.has(header) : headers.has('x-forwarded-for');
    odd = isOdd ? odd + 1 : 0;
    if (odd < MANY) return;
    warn?.(
      header
        ? `${MANY} requests in a row have no header ${header}: their clients are told apart by the connection alone`
        : `${MANY} requests in a row have the header x-forwarded-for, but no setting says which proxies to believe: if one stands in front, all visitors share its limit. Set TRUSTED_PROXIES`,
    );
  };

  const find = (request: Request): string | undefined => {
    const peer = addresses.get(request);
    if (!header) return peer;
    const named = addressesIn(header, request.headers.get(header));
    const hops = [...named, bareOf(peer ?? '')];
    let at = hops.length - 1;
    if (isTrusted) while (at > 0 && isTrusted(hops[at]!)) at--;
    else at = Math.max(0, at - ((trusted as number | undefined) ?? 1));
    // Not a text that is no address: it could change with each request, and each would count as another client.
    return isIP(hops[at]!) ? hops[at] : peer;
  };

  return {
    /** Called with each request as it comes. */
    note: (request: Request, address: string | undefined): void => {
      addresses.set(request, address);
      watch(request);
    },
    of: find,
  };
};
