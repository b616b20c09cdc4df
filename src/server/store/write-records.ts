import type { EventBody, RecordType } from '../../interface/bodies.js';
import type { Incoming } from '../incoming.js';
import type { Written } from './port.js';

/** A record to be stored. If it comes from another store, it has the number of its `arrivals` there. */
export type Arrived = Incoming & { arrivals?: number };

/** A record in the columns of the table. */
export interface Columns {
  project: string;
  type: RecordType;
  id: string;
  channel: string | undefined;
  event: string | undefined;
  user_id: string | undefined;
  /** JSON. */
  body: string;
  called_at: string;
  received_at: string;
  arrivals: number;
  client: string | undefined;
  sender: string | undefined;
  from_server: true | undefined;
  /** It asks for a notification. Missing if it comes from another store, which has notified of it. */
  notify: true | undefined;
}

export type RecordKey = Pick<Columns, 'project' | 'type' | 'id'>;

export const columnsOf = (record: Arrived): Columns => {
  const { id, type, body, text, client, sender, calledAt, receivedAt, arrivals } = record;
  const { project, user_id, channel, event, notify } = body as Partial<EventBody> & {
    project: string;
  };
  return {
    ...{ project, type, id, channel, event, user_id, body: text },
    ...{ called_at: calledAt, received_at: receivedAt, arrivals: arrivals ?? 1, client, sender },
    notify: (arrivals === undefined && notify) || undefined,
    from_server: record.fromServer,
  };
};

interface Parts {
  /**
   * Stores all of these records, no two of which have the same key, or fails and stores none of them. Returns the keys of
   * those that were there already.
   */
  store: (records: readonly Arrived[]) => Promise<ReadonlySet<string>>;
  /** The words of the database, if it refuses a record itself, and neither the connection nor the statement. */
  wordsOfRefusal: (error: unknown) => string | undefined;
}

/** Keys for maps. */
export const rowKeyOf = ({ project, type, id }: RecordKey): string =>
  JSON.stringify([project, type, id]);
export const recordKeyOf = ({ type, id, body: { project } }: Incoming): string =>
  rowKeyOf({ project, type, id });
export const userOf = ({
  project,
  user_id,
}: {
  project: string;
  user_id?: string | undefined;
}): string => JSON.stringify([project, user_id]);

const [STORED, KNOWN] = [{ outcome: 'stored' }, { outcome: 'known' }] as const;

/** Writes records by a statement that stores all of them or none, and returns what became of each. */
export const createRecordWriter = ({ store, wordsOfRefusal }: Parts) => {
  /** If a record spoils the statement, the records are halved until the bad one stands alone. */
  const writeDistinct = async (records: readonly Arrived[]): Promise<Written[]> => {
    try {
      const known = await store(records);
      const outcomeOf = (record: Arrived) => (known.has(recordKeyOf(record)) ? KNOWN : STORED);
      return records.map(known.size ? outcomeOf : () => STORED);
    } catch (error) {
      const message = wordsOfRefusal(error);
      if (message === undefined) throw error;
      if (records.length === 1) return [{ outcome: 'dead', message }];
      const half = Math.ceil(records.length / 2);
      const first = await writeDistinct(records.slice(0, half));
      return [...first, ...(await writeDistinct(records.slice(half)))];
    }
  };

  /** A statement cannot change a row twice, so repeats among the records go into the next statement. */
  const write = async (records: readonly Arrived[]): Promise<Written[]> => {
    if (!records.length) return [];
    // If no id is there twice, as in most calls, no key is either.
    if (new Set(records.map(({ id }) => id)).size === records.length) return writeDistinct(records);
    const keys = new Set<string>();
    const isRepeat = records.map((record) => keys.size === keys.add(recordKeyOf(record)).size);
    if (keys.size === records.length) return writeDistinct(records);
    const written = await writeDistinct(records.filter((_, index) => !isRepeat[index]));
    const repeated = await write(records.filter((_, index) => isRepeat[index]));
    return isRepeat.map((again) => (again ? repeated : written).shift()!);
  };
  return write;
};
