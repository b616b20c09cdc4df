import { isToken, TOKEN_WORDS } from './is-token.js';

/** What a value must be: in words, and as a check. */
export interface Kind {
  words: string;
  fits: (value: unknown) => boolean;
}

export const isText = (value: unknown): value is string =>
  typeof value === 'string' && /\S/.test(value);
export const isFunction = (value: unknown): boolean => typeof value === 'function';
export const isPositive = (value: unknown): boolean =>
  Number.isFinite(value) && (value as number) > 0;

/**
 * Whether a path can be added to the address: not after a query or fragment. `fetch` refuses one with a user. A `*` stands
 * for many addresses.
 */
export const isHttpUrl = (value: unknown): value is string => {
  try {
    const { protocol, username, password } = new globalThis.URL(value as string);
    return (
      typeof value === 'string' &&
      /^https?:$/.test(protocol) &&
      !/[?#*\s]/.test(value) &&
      !username &&
      !password
    );
  } catch {
    return false;
  }
};

export const text: Kind = { words: 'a non-empty string', fits: isText };
export const url: Kind = {
  words: 'an absolute http(s) URL without user, query, spaces or "*"',
  fits: isHttpUrl,
};
export const token: Kind = {
  words: `${TOKEN_WORDS}, or a function`,
  fits: (value) => isToken(value) || isFunction(value),
};
export const positive: Kind = { words: 'a positive, finite number', fits: isPositive };
/** Milliseconds that a timer can take: one that is set for longer ends at once. */
export const timer: Kind = {
  words: 'a positive number below 2147483648',
  fits: (value) => isPositive(value) && (value as number) < 2 ** 31,
};
export const flag: Kind = { words: 'true or false', fits: (value) => typeof value === 'boolean' };
export const callback: Kind = { words: 'a function', fits: isFunction };
