import { messageOf } from '../errors.js';
import type { Token } from '../types.js';

/** The token in use. Asked for when needed, kept in memory only. */
export const createTokenSource = (option: () => Token) => {
  let kept: string | undefined;
  let mayRenew = true;
  let asking: Promise<string | undefined> | undefined;

  const request = async (): Promise<string | undefined> => {
    const source = option();
    try {
      const given: unknown = typeof source === 'function' ? await source() : source;
      if (typeof given !== 'string' || !given) return 'the function `token` gave no string';
      kept = given;
      return undefined;
    } catch (error) {
      return `the function \`token\` failed: ${messageOf(error)}`;
    } finally {
      asking = undefined;
    }
  };

  return {
    get: (): string | undefined => {
      const source = option();
      return typeof source === 'string' ? source : kept;
    },
    /** Resolves with what went wrong, or nothing. */
    ask: (): Promise<string | undefined> => (asking ??= request()),
    /** After a 401: true where another one can be asked for, once until a request passes. */
    renew: (): boolean => {
      if (typeof option() === 'string' || !mayRenew) return false;
      mayRenew = false;
      kept = undefined;
      return true;
    },
    /** It was refused for good: the next one has to be asked for. */
    forget: (): void => {
      kept = undefined;
    },
    /** A request passed with it. */
    passed: (): void => {
      mayRenew = true;
    },
  };
};

export type TokenSource = ReturnType<typeof createTokenSource>;
