import { isToken, TOKEN_WORDS } from './is-token.js';
import { messageOf } from './errors.js';
import { inTime } from './in-time.js';
import type { Token } from './bodies.js';

/** The token in use. Asked for when needed, kept in memory only. */
export const createTokenSource = (option: () => Token, timeout = () => 30_000) => {
  let kept: string | undefined;
  /** The function that gave it. */
  let giver: Token | undefined;
  let mayRenew = true;
  let asking: Promise<string | undefined> | undefined;

  const request = async (): Promise<string | undefined> => {
    const source = option();
    try {
      const given: unknown =
        typeof source === 'function' ? await inTime(source(), timeout()) : source;
      // Read from a file, it ends with a line break, which `fetch` would have cut off as well.
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
    /** Resolves with what went wrong, or nothing. */
    ask: (): Promise<string | undefined> =>
      (asking ??= request().finally(() => {
        asking = undefined;
      })),
    /**
     * It was answered 401, so the next one has to be asked for. True where that may help at once: once until a
     * request passes.
     */
    refused: (): boolean => {
      const may = mayRenew && typeof option() !== 'string';
      mayRenew = false;
      kept = undefined;
      return may;
    },
    /** A request passed with it. */
    passed: (): void => {
      mayRenew = true;
    },
  };
};

export type TokenSource = ReturnType<typeof createTokenSource>;
