import { mayFail } from '../../util/may-fail.js';
import type { Destination } from './destination.js';

/** The page of the service that shows the rows of this browser, should it be our service. */
export const rowsAddress = ({ address }: Destination): string =>
  `${mayFail(() => new URL(address).origin) ?? ''}/rows?mine=1`;

/**
 * Whether the page may ask: a service lets no page of another site read its rows, and makes up the ids of records that
 * bring none.
 */
export const mayAsk = (destination: Destination): boolean =>
  destination.resends && rowsAddress(destination).startsWith(`${location.origin}/`);

/**
 * The ids of the newest rows that this browser sent; nothing if no row names this browser: one that came through a queue
 * names none. Rejects if no service answers.
 */
export const storedIds = async (destination: Destination): Promise<Set<string> | undefined> => {
  const answer = await fetch(`${rowsAddress(destination)}&newest=1&format=json`);
  const { rows } = (await answer.json()) as { rows: { id: string }[] };
  return rows[0] && new Set(rows.map(({ id }) => id));
};
