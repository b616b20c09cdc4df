import type { DeadLetter, DeadLetters } from '../relay-redis.js';

export const DEAD_USAGE =
  'dead list | dead resend <id>… | dead purge <id>… (--all in place of ids)';

/** Dead letters at a time. */
const PAGE = 100;

async function* allOf({ list }: DeadLetters): AsyncGenerator<DeadLetter[]> {
  let page = await list({ limit: PAGE });
  while (page.length) {
    yield page;
    page = await list({ limit: PAGE, after: page.at(-1)!.id });
  }
}

const idsOf = async (letters: DeadLetters): Promise<string[]> => {
  const ids: string[] = [];
  for await (const page of allOf(letters)) ids.push(...page.map(({ id }) => id));
  return ids;
};

const escapeOf = (sign: string): string =>
  sign.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Visitors write what is in a record, and JSON alone leaves signs in it that a terminal obeys. */
const inWords = ({ id, diedAt, reason, record }: DeadLetter): string =>
  JSON.stringify({ id, diedAt: new Date(diedAt).toISOString(), reason, record }).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    escapeOf,
  );

interface Voice {
  /** Writes a line of the result. */
  print: (line: string) => void;
  /** Writes a line for people, which is no part of the result. */
  say: (line: string) => void;
}

/** Lists dead letters as JSON, a line each; sends them again, or deletes them. */
export const runDeadCommand = async (
  [verb, ...ids]: readonly string[],
  letters: DeadLetters,
  { print, say }: Voice,
): Promise<void> => {
  if (verb === 'list' && !ids.length) {
    let found = 0;
    for await (const page of allOf(letters)) {
      page.forEach((letter) => print(inWords(letter)));
      found += page.length;
    }
    if (!found) say('there are no dead letters');
    return;
  }
  if ((verb !== 'resend' && verb !== 'purge') || !ids.length)
    throw new Error(`usage: ${DEAD_USAGE}`);
  // All are named first: what a running relay delivers meanwhile may be refused, and is a dead letter again.
  const named = ids.includes('--all') ? await idsOf(letters) : ids;
  let count = 0;
  for (let from = 0; from < named.length; from += PAGE)
    count += await letters[verb](named.slice(from, from + PAGE));
  print(`${count} ${verb === 'resend' ? 'sent again' : 'deleted'}`);
};
