import type { RelayOptions } from '../relay/front/relay-options.js';

const WORD_LENGTH = 12;
/** Words remembered: a browser sends many requests. */
const MAX_KNOWN = 1_000;

/**
 * An opaque word for the browser that sends a request, of its address and its name. The key is made anew at each start
 * and kept nowhere, so nobody can find the address, not even by trying all of them.
 */
export const createClientWord = ({ clientAddress }: Pick<RelayOptions, 'clientAddress'>) => {
  const key = crypto.subtle.importKey(
    'raw',
    crypto.getRandomValues(new Uint8Array(32)),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const known = new Map<string, string>();

  const sign = async (text: string): Promise<string> => {
    const signed = await crypto.subtle.sign('HMAC', await key, new TextEncoder().encode(text));
    const hex = [...new Uint8Array(signed)].map((byte) => byte.toString(16).padStart(2, '0'));
    return hex.join('').slice(0, WORD_LENGTH);
  };

  /** Undefined where addresses are not known. */
  return async (request: Request): Promise<string | undefined> => {
    const address = addressOf(request, clientAddress);
    if (!address) return undefined;
    const text = `${address}\n${(request.headers.get('user-agent') ?? '').slice(0, 512)}`;
    const word = known.get(text) ?? (await sign(text));
    known.delete(text);
    known.set(text, word);
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value!);
    return word;
  };
};

const addressOf = (
  request: Request,
  clientAddress: RelayOptions['clientAddress'],
): string | undefined => {
  try {
    return clientAddress?.(request);
  } catch {
    return undefined; // the rate limit, which asks as well, tells of it
  }
};
