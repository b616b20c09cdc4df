import type { Tell } from './hooks.js';
import type { Refused } from './receive.js';

/** A visitor can invent any number of values, of any length. */
const MAX_VALUES = 100;
const MAX_VALUES_OF_CLIENT = 5;
const MAX_LENGTH = 64;
const DAY_MS = 86_400_000;

/** Reports projects and channels that records name and the lists lack. */
export const createUnlisted = (tell: Tell, now: () => number) => {
  /** Values that the lists lack and that have been named since then, and for which client. */
  const named = new Map<string, string>();
  let since = now();

  /**
   * Names each value once a day. One client alone cannot use up what is named in a day, so a visitor cannot easily hide a
   * value that is really missing.
   */
  const report = (field: 'project' | 'channel', value: string, client: string): void => {
    if (Math.abs(now() - since) >= DAY_MS) {
      named.clear();
      since = now();
    }
    const name = `${field} ${inWords(value)}`;
    if (named.size >= MAX_VALUES || named.has(name)) return;
    const ofClient = [...named.values()].filter((one) => one === client).length;
    if (client && ofClient >= MAX_VALUES_OF_CLIENT) return;
    named.set(name, client);
    const more = named.size === MAX_VALUES ? '; no other value is named today' : '';
    tell.error({ kind: 'unlisted', message: `${name} is not in the list \`${field}s\`${more}` });
  };

  return ({ refusal: { unlisted }, body, client }: Refused): void => {
    if (unlisted) report(unlisted, (body as Record<string, string>)[unlisted]!, client);
  };
};

/** Without control characters and invisible ones, which could deceive who reads a log. */
const inWords = (value: string): string =>
  JSON.stringify(value.slice(0, MAX_LENGTH).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u{fffd}'));
