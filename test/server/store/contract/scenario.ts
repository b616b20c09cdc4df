import { expect, test } from 'vitest';
import type { EventBody, IdentifyBody } from '../../../../src/interface/bodies.js';
import type { Incoming } from '../../../../src/server/incoming.js';
import type { NewRefused, Row, Store } from '../../../../src/server/store/port.js';
import { incomingEvent, incomingIdentify } from '../../support/incoming.js';
import { patient } from '../../support/patient.js';

export type SpoiltTable = 'records' | 'profiles' | 'hour_sums';
/** The columns of a table by whose values a row is refused. */
export const SPOILT_BY: Readonly<Record<SpoiltTable, readonly string[]>> = {
  records: ['event', 'id'],
  profiles: ['user_id'],
  hour_sums: ['event'],
};

export interface StoreWorld {
  /** A handle of one more process on the same records. */
  open: (options?: { onReplaced?: (records: number) => void }) => Promise<Store>;
  /** Gives the tables the form of an earlier version. `isUnsummed`: it was still summing older rows. */
  takeBack: (version: 1 | 3, isUnsummed: boolean) => Promise<void>;
  /** Makes all erasures older. */
  makeOlder: (ms: number) => Promise<void>;
  /**
   * Has the database refuse rows of a table with these words, until what is returned is called: records with an event or
   * id of this name, profiles of such a user, or sums of such an event.
   */
  spoil: (name: string, words: string, table?: SpoiltTable) => Promise<() => Promise<void>>;
}

/** A part of the contract: what a store of this name does in a world of its own. */
export type Part = (name: string, enter: () => StoreWorld) => void;

/** Names a scenario that begins with an empty store, and runs it. */
export const scenarioOf =
  (enter: () => StoreWorld) =>
  (name: string, play: (store: Store, world: StoreWorld) => Promise<void>): void =>
    test(name, async () => {
      const given = enter();
      const open = async (options?: { onReplaced?: (records: number) => void }) =>
        patient(await given.open(options));
      const world = { ...given, open };
      await play(await open(), world);
    });

export const ALL = { limit: 10_000 };
export const STORED = { outcome: 'stored' };
export const KNOWN = { outcome: 'known' };

export const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 12, 0, second)).toISOString();

let made = 0;
export const event = (body: Partial<EventBody> = {}, record: Partial<Incoming> = {}) =>
  incomingEvent({ id: `event-${++made}`, ...record }, body);
export const identify = (
  properties: object,
  record: Partial<Incoming> = {},
  body: Partial<IdentifyBody> = {},
) => incomingIdentify({ id: `identify-${++made}`, ...record }, { properties, ...body });
export const refusal = (refused: Partial<NewRefused> = {}): NewRefused => ({
  ...{ received_at: at(0), reason: 'field', status: 400, message: 'm' },
  ...refused,
});
export const times = <Item>(count: number, make: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** What a store has to give back of a record. */
export const rowOf = ({
  id,
  type,
  body,
  calledAt,
  receivedAt,
  client,
  fromServer,
}: Incoming): Omit<Row, 'seq'> => {
  const { project, channel, event: name, user_id } = body as EventBody;
  return {
    ...{
      id,
      type,
      project,
      body,
      called_at: calledAt,
      received_at: receivedAt,
      arrivals: 1,
    },
    ...(channel !== undefined && { channel }),
    ...(name !== undefined && { event: name }),
    ...(user_id !== undefined && { user_id }),
    ...(client !== undefined && { client }),
    ...(fromServer && { from_server: fromServer }),
  };
};

export const idsOf = (rows: readonly { id?: string }[]) => rows.map(({ id }) => id);
export const withoutSeq = <One extends { seq: number }>(all: readonly One[]) =>
  all.map(({ seq: _, ...one }) => one);
export const first = <Item>(items: readonly Item[]): Item => {
  expect(items).not.toEqual([]);
  return items[0]!;
};
export const rowsOf = (store: Store) => store.rows({}, ALL);
export const refusedOf = (store: Store) => store.refused(ALL);
export const profileOf = async (store: Store) => first(await store.profiles({}, ALL));
/** The tables of exports and notifications. */
export const PROGRESS_TABLES = ['source', 'erasures', 'targets', 'target_dead'];
