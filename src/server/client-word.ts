import { createOpaqueWord, type ClientOptions } from './http/client.js';

/**
 * An opaque word for the browser that sends a request, of its address and its name. The key is made anew at each start
 * and kept nowhere, so nobody can find the address, not even by trying all of them.
 */
export const createClientWord = ({ clientAddress }: ClientOptions) => {
  const wordOf = createOpaqueWord();

  /** Undefined where addresses are not known. */
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
    return undefined; // the rate limit, which asks as well, tells of it
  }
};
