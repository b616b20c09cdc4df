import type { Incoming } from '../incoming.js';
import type { NewRefused, PlacelessRow, Profile, Resent, Written } from './port.js';
import type { Arrived } from './write-records.js';

/** A record that the database refuses, as it is kept among the refused. */
const deadLetterOf = (record: Incoming, message: string): NewRefused => ({
  ...{ received_at: record.receivedAt, reason: 'database', status: 422, message },
  ...{ id: record.id, type: record.type, project: record.body.project },
  ...(record.body.user_id !== undefined && { user_id: record.body.user_id }),
  ...{ body: record.text, isDead: true as const, record },
  ...(record.client !== undefined && { client: record.client }),
});

/** The dead letters among records that were written. */
export const lettersOf = (
  records: readonly Incoming[],
  written: readonly Written[],
): NewRefused[] =>
  written.flatMap((one, index) =>
    one.outcome === 'dead' ? [deadLetterOf(records[index]!, one.message)] : [],
  );

/** The text of a dead record. It has the body only once. */
export const writeDead = ({ text: _, ...record }: Incoming): string => JSON.stringify(record);
export const readDead = (kept: string): Incoming => {
  const record = JSON.parse(kept) as Omit<Incoming, 'text'>;
  return { ...record, text: JSON.stringify(record.body) };
};

/** What became of a dead record that was written again. */
export const resentOf = (seq: number, written: Written): Resent =>
  written.outcome === 'dead' ? { seq, ...written } : { seq, outcome: written.outcome };

/** A row as the record that it was. */
export const arrivedOf = (row: PlacelessRow): Arrived => ({
  ...{ id: row.id, type: row.type, body: row.body, text: JSON.stringify(row.body) },
  ...{ calledAt: row.called_at, receivedAt: row.received_at, arrivals: row.arrivals },
  client: row.client,
  fromServer: row.from_server,
});

/** A profile of another store that the database refuses, as it is kept among the refused. */
export const refusedProfileOf = (profile: Profile, message: string): NewRefused => ({
  ...{ received_at: profile.updated_at, reason: 'database', status: 422, message },
  ...{ type: 'identify', project: profile.project, user_id: profile.user_id },
  body: JSON.stringify(profile.properties),
});
