import { createOpaqueWord, type ClientOptions } from './http/client.js';

/**
 * Turns the address and the name (`User-Agent`) of a browser into an opaque word. The key is made anew at each start
 * and kept nowhere, so nobody can find the address, not even by trying all addresses.
 */
export const createClientWord = ({ clientAddress }: ClientOptions) => {
  const wordOf = createOpaqueWord();

  /** Undefined if the address is not known. */
  return async (request: Request): Promise<string | undefined> => {
    const address = addressOf(request, clientAddress);
    if (!address) return undefined;
    return wordOf(`${address}\n${(request.headers.get('user-agent') ?? '').slice(0, 512)}`);
  };
};

const addressOf = (
  request: Request,
  clientAddress: ClientOptions['clientAddress'],
): string | undefined => {
  try {
    return clientAddress?.(request);
  } catch {
    return undefined; // the rate limit has called it, too, and reports this
  }
};
