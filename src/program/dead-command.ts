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

const inWords = ({ id, diedAt, reason, record }: DeadLetter): string =>
  JSON.stringify({ id, diedAt: new Date(diedAt).toISOString(), reason, record });

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
  let count = 0;
  if (ids.includes('--all')) {
    for await (const page of allOf(letters)) count += await letters[verb](page.map(({ id }) => id));
  } else count = await letters[verb](ids);
  print(`${count} ${verb === 'resend' ? 'sent again' : 'deleted'}`);
};
