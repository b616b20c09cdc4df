import type { Token } from '../../interface/bodies.js';
import { messageOf } from '../../util/errors.js';
import { inTime } from '../../util/in-time.js';
import { isToken, TOKEN_WORDS } from '../../interface/is-token.js';

/** Gives the token. A function is called when a token is needed, and its token is kept in memory only. */
export const createTokenSource = (token: Token, timeout: number) => {
  let kept: string | undefined = typeof token === 'string' ? token : undefined;
  let mayRenew = true;
  let asking: Promise<string | undefined> | undefined;

  const request = async (): Promise<string | undefined> => {
    try {
      const given: unknown = await inTime((token as () => unknown)(), timeout);
      // A token from a file may end with a line break.
      const trimmed = typeof given === 'string' ? given.trim() : given;
      if (!isToken(trimmed)) return `the function \`token\` must give ${TOKEN_WORDS}`;
      kept = trimmed;
      return undefined;
    } catch (error) {
      return `the function \`token\` failed: ${messageOf(error)}`;
    }
  };

  return {
    get: (): string | undefined => kept,
    /** Calls the function, once for all requests that wait for a token. Resolves with what went wrong, if anything. */
    ask: (): Promise<string | undefined> =>
      (asking ??= request().finally(() => {
        asking = undefined;
      })),
    /**
     * Forgets a token that was answered 401, so that the function is called again. Returns whether to try again at once
     * with another token: only once until a request has passed.
     */
    refused: (): boolean => {
      if (typeof token === 'string') return false;
      const may = mayRenew;
      mayRenew = false;
      kept = undefined;
      return may;
    },
    /** A request with the token has passed. */
    passed: (): void => {
      mayRenew = true;
    },
  };
};
