import type { Access } from './sender.js';
import type { TokenSource } from '../../interface/token.js';

/** The token as what a destination has to be shown. */
export const createTokenAccess = (token: TokenSource): Access => ({
  isReady: () => token.get() !== undefined,
  ask: token.ask,
  passed: token.passed,
  refused: ({ status, token: used }) => used !== token.get() || (status === 401 && token.refused()),
});
