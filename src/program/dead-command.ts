import { parseArgs } from 'node:util';
import type { Incoming } from '../service.js';
import type { Voice } from './log.js';
import { plain } from './tail-lines.js';

export const DEAD_USAGE =
  'export dead list | export dead resend <id>… | export dead purge <id>… ' +
  '(in place of ids --all, --reason <its beginning>, --older <2d|12h|30m>, --newer <…>)';

/** A record that the database has refused, or a row that a target has. */
export interface DeadLetter {
  id: string;
  target?: string | undefined;
  /** Of a row only what names it. */
  record: Partial<Incoming> & Pick<Incoming, 'id'>;
  reason: string;
  /** When it was refused, milliseconds since the epoch. */
  diedAt: number;
}

/** What an operator can do with dead letters. Unknown ids are ignored. */
export interface DeadLetters {
  /** The oldest first, at most `limit` (100) of them, those behind the id `after`. */
  list(options?: { limit?: number; after?: string }): Promise<DeadLetter[]>;
  /** Sends them again, and returns how many there were. */
  resend(ids: readonly string[]): Promise<number>;
  /** Deletes them for good, and returns how many there were. */
  purge(ids: readonly string[]): Promise<number>;
}

/** How many dead letters are read at a time. */
const PAGE = 100;

async function* allOf({ list }: DeadLetters): AsyncGenerator<DeadLetter[]> {
  let page = await list({ limit: PAGE });
  while (page.length) {
    yield page;
    page = await list({ limit: PAGE, after: page.at(-1)!.id });
  }
}

const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 };

/** An age such as `2d` in milliseconds. */
const agoOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const [, number, unit = ''] = /^(\d+)([dhm])$/.exec(text) ?? [];
  if (!number) throw new Error(`"${text}" is no age: write 2d, 12h or 30m`);
  return Number(number) * UNITS[unit]!;
};

/** Whether a dead letter is chosen by its reason and its age. */
const createIsMeant = (
  { reason = '', older, newer }: Partial<Record<'reason' | 'older' | 'newer', string>>,
  now: number,
) => {
  const [atLeast = 0, atMost = Infinity] = [agoOf(older), agoOf(newer)];
  return (letter: DeadLetter): boolean => {
    const age = now - letter.diedAt;
    return letter.reason.startsWith(reason) && age >= atLeast && age <= atMost;
  };
};

/** A dead letter as a line of JSON, without `text`, which is the same as `body`. */
const lineOf = ({ diedAt, record: { text: _, ...record }, ...letter }: DeadLetter): string =>
  plain(JSON.stringify({ ...letter, diedAt: new Date(diedAt).toISOString(), record }));

/** Lists dead letters as JSON, a line each; sends them again, or deletes them. */
export const runDeadCommand = async (
  args: readonly string[],
  letters: DeadLetters,
  { print, say }: Voice,
): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      all: { type: 'boolean' },
      reason: { type: 'string' },
      older: { type: 'string' },
      newer: { type: 'string' },
    },
  });
  const [verb, ...ids] = positionals;
  const isChosen = Object.keys(values).length > 0;
  const isMeant = createIsMeant(values, Date.now());
  if (verb === 'list' && !ids.length) {
    let found = 0;
    for await (const page of allOf(letters)) {
      const meant = page.filter(isMeant);
      meant.forEach((letter) => print(lineOf(letter)));
      found += meant.length;
    }
    if (!found) say(`there are no dead letters${isChosen ? ' of this kind' : ''}`);
    return;
  }
  if ((verb !== 'resend' && verb !== 'purge') || ids.length > 0 === isChosen)
    throw new Error(`usage: ${DEAD_USAGE}`);
  // Collects all ids first: a record that is sent again may be refused at once, and is a dead letter again.
  if (isChosen)
    for await (const page of allOf(letters)) ids.push(...page.filter(isMeant).map(({ id }) => id));
  let count = 0;
  for (let from = 0; from < ids.length; from += PAGE)
    count += await letters[verb](ids.slice(from, from + PAGE));
  print(`${count} ${verb === 'resend' ? 'sent again' : 'deleted'}`);
  if (count < ids.length) say(`${ids.length - count} were not there, or are refused still`);
};
