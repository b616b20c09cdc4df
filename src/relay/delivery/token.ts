import { isToken, TOKEN_WORDS } from '../../interface/is-token.js';
import { messageOf } from '../../interface/errors.js';
import { inTime } from '../time.js';
import type { Token } from '../../interface/bodies.js';

/** Gives the token in use. It is asked for when needed, and kept in memory only. */
export const createTokenSource = (option: () => Token, timeout = () => 30_000) => {
  let kept: string | undefined;
  /** The function that gave `kept`. */
  let giver: Token | undefined;
  let mayRenew = true;
  let asking: Promise<string | undefined> | undefined;

  const request = async (): Promise<string | undefined> => {
    const source = option();
    try {
      const given: unknown =
        typeof source === 'function' ? await inTime(timeout(), source) : source;
      // A token from a file ends with a line break, which `fetch` would have cut off as well.
      const trimmed = typeof given === 'string' ? given.trim() : given;
      if (!isToken(trimmed)) return `the function \`token\` must give ${TOKEN_WORDS}`;
      kept = trimmed;
      giver = source;
      return undefined;
    } catch (error) {
      return `the function \`token\` failed: ${messageOf(error)}`;
    }
  };

  return {
    get: (): string | undefined => {
      const source = option();
      if (typeof source === 'string') return source;
      return source === giver ? kept : undefined;
    },
    /** Asks for a token. Resolves with what went wrong, if anything. */
    ask: (): Promise<string | undefined> =>
      (asking ??= request().finally(() => {
        asking = undefined;
      })),
    /**
     * Called when the token was answered 401, so that the next one has to be asked for. Returns true if that may help
     * at once, which it may one time until a request passes.
     */
    refused: (): boolean => {
      const may = mayRenew && typeof option() !== 'string';
      mayRenew = false;
      kept = undefined;
      return may;
    },
    /** Called when a request with the token has passed. */
    passed: (): void => {
      mayRenew = true;
    },
  };
};

export type TokenSource = ReturnType<typeof createTokenSource>;
