import { messageOf } from '../../../util/errors.js';
import { inTime } from '../../../util/in-time.js';
import { isToken } from '../../../interface/is-token.js';
import type { Settings } from '../../options.js';

/** Gives the token in use. One that a function gives is asked for when it is needed, and kept in memory only. */
export const createToken = (settings: () => Settings) => {
  let given = '';
  return {
    /** Empty if the function has to be asked first. */
    current: (): string => {
      const { token } = settings();
      return typeof token === 'function' ? given : token!;
    },
    /** Asks the function. Resolves with what went wrong, if anything. What a replaced function says is ignored. */
    ask: async (): Promise<string | undefined> => {
      const { token, timeout } = settings();
      const isCurrent = () => token === settings().token;
      try {
        // A token from a file ends with a line break.
        const text = (await inTime((token as () => string)(), timeout)).trim();
        if (!isToken(text)) throw new Error('no token');
        if (isCurrent()) given = text;
      } catch (error) {
        if (isCurrent()) return `token: ${messageOf(error)}`;
      }
      return undefined;
    },
    /** Called when the service has refused the token. Returns whether there is a function, to be asked once more. */
    forget: (): boolean => {
      given = '';
      return typeof settings().token === 'function';
    },
  };
};

export type TokenSource = ReturnType<typeof createToken>;
