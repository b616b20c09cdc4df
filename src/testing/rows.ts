import type { Draft, EventMap, OutboxRecord } from '../client/types.js';
import type { Recorded } from './types.js';

/** The parts of a record that say what the service gets. */
export type Row = Pick<OutboxRecord, 'type' | 'body'>;

const draftOf = ({ type, body }: Row): Draft => ({ type, body: JSON.parse(body) }) as Draft;

/** The ways to ask for rows, wherever they come from. */
export const readRows = <Events extends EventMap<Events>>(
  rows: () => readonly Row[],
): Omit<Recorded<Events>, 'clear'> => {
  const drafts = () => rows().map(draftOf);
  return {
    rows: drafts,
    events: (name) =>
      drafts().flatMap(({ type, body }) =>
        type === 'event' && (name === undefined || body.event === name) ? [body as never] : [],
      ),
    identifies: (userId) =>
      drafts().flatMap(({ type, body }) =>
        type === 'identify' && (userId === undefined || body.user_id === userId) ? [body] : [],
      ),
  };
};
