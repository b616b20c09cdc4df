import { messageOf } from '../../interface/errors.js';
import { inTime } from '../../interface/in-time.js';
import { isToken } from '../../interface/is-token.js';
import type { Settings } from '../options.js';

/** Gives the token in use. One that a function gives is asked for when it is needed, and kept in memory only. */
export const createToken = (settings: () => Settings) => {
  let kept: string | undefined;
  /** The function that gave it. */
  let giver: unknown;
  let mayRenew = true;

  const get = (): string | undefined => {
    const { token } = settings();
    return typeof token === 'function' ? (token === giver ? kept : undefined) : (token ?? '');
  };

  return {
    get,
    /** Asks the function. Resolves with what went wrong, if anything. */
    ask: async (): Promise<string | undefined> => {
      const { token, timeout } = settings();
      try {
        // A token from a file ends with a line break.
        const given = (await inTime((token as () => string)(), timeout)).trim();
        if (!isToken(given)) throw new Error('no token');
        kept = given;
        giver = token;
        return undefined;
      } catch (error) {
        return `token: ${messageOf(error)}`;
      }
    },
    /** Called when a request with the token has passed. */
    passed: (): void => {
      mayRenew = true;
    },
    /**
     * Called when the service has refused a request. Returns whether that was about a token that is not in use any
     * more, or that is asked for once again after a 401.
     */
    isStale: (used: string | undefined, status: number): boolean => {
      if (used !== get()) return true;
      if (status !== 401 || typeof settings().token !== 'function') return false;
      const may = mayRenew;
      kept = undefined;
      mayRenew = false;
      return may;
    },
  };
};

export type TokenSource = ReturnType<typeof createToken>;
