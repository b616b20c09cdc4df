import type { QueuedRecord } from './ports.js';

/** A record as a queue keeps it: a line of JSON without the body, and then the text of the body. */
export const writeQueued = ({ body: _, text, ...rest }: QueuedRecord): string =>
  `${JSON.stringify(rest)}\n${text}`;

export const readQueued = (kept: string): QueuedRecord => {
  const end = kept.indexOf('\n');
  const text = kept.slice(end + 1);
  const rest = JSON.parse(kept.slice(0, end)) as Omit<QueuedRecord, 'body' | 'text'>;
  return { ...rest, text, body: JSON.parse(text) as QueuedRecord['body'] };
};
