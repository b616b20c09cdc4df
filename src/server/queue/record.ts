import type { QueuedRecord } from './ports.js';

/** A record as a queue keeps it: a line with all but the body, and the body as it was checked behind it. */
export const writeQueued = ({ body: _, text, ...rest }: QueuedRecord): string =>
  `${JSON.stringify(rest)}\n${text}`;

export const readQueued = (kept: string): QueuedRecord => {
  const end = kept.indexOf('\n');
  const text = kept.slice(end + 1);
  const rest = JSON.parse(kept.slice(0, end)) as Omit<QueuedRecord, 'body' | 'text'>;
  return { ...rest, text, body: JSON.parse(text) as QueuedRecord['body'] };
};
