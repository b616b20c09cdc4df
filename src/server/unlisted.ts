import type { Tell } from './hooks.js';
import type { Refused } from './receive.js';

/** Bounds, since a visitor can invent any number of values, of any length. */
const MAX_VALUES = 100;
const MAX_VALUES_OF_CLIENT = 5;
const MAX_LENGTH = 64;
const DAY_MS = 86_400_000;

/** Reports projects and channels of records that are missing in the lists. */
export const createUnlisted = (tell: Tell, now: () => number) => {
  /** The values that were reported since `since`, each with the client that sent it. */
  const named = new Map<string, string>();
  let since = now();

  /**
   * Reports each value once a day, but few of one client, which could otherwise hide a value that is really missing.
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

/** Without control and invisible characters, which could deceive the reader of a log. */
const inWords = (value: string): string =>
  JSON.stringify(value.slice(0, MAX_LENGTH).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u{fffd}'));
