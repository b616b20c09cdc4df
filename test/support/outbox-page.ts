import { beforeEach, vi } from 'vitest';
import { resolveOptions } from '../../src/client/options.js';
import { createClaims } from '../../src/client/outbox/claims.js';
import { openDatabase } from '../../src/client/outbox/database.js';
import { entriesOf } from '../../src/client/outbox/memory.js';
import { createOutbox, keep, useDatabase } from '../../src/client/outbox/outbox.js';
import { checkLease } from '../../src/client/outbox/store.js';
import type { Options, OutboxRecord } from '../../src/client/types.js';
import { DIRECT, NAME, openSite } from './site.js';

/** What the client takes for the time. */
export const clock = { time: 0 };
/** What localStorage has. */
export let shelf: Map<string, string>;
let site: ReturnType<typeof openSite>;

// The globals stay after a test: a write that it has not waited for still needs them.
beforeEach(() => {
  clock.time = 1_000_000;
  vi.spyOn(Date, 'now').mockImplementation(() => clock.time);
  site = openSite();
  shelf = site.values;
});

let made = 0;
export const recordOf = (event: string, more: Partial<OutboxRecord> = {}): OutboxRecord => ({
  id: `id-${++made}`,
  type: 'event',
  body: JSON.stringify({ event }),
  at: clock.time,
  attempts: 0,
  ...more,
});

/** A page of the site, with the outbox of one destination. */
export const openPage = ({
  isBroken = false,
  ...options
}: Partial<Options> & { isBroken?: boolean } = {}) => {
  const told: string[] = [];
  const settings = resolveOptions(
    { ...DIRECT, ...options } as Options,
    'https://site.example',
    true,
  );
  const outbox = createOutbox({
    name: NAME,
    settings: () => settings,
    emit: (_, payload) => {
      const { outcome, reason } = payload as { outcome?: string; reason?: string };
      if (outcome ?? reason) told.push((outcome ?? reason)!);
    },
    onRestart: () => claims.restart(),
  });
  const claims = createClaims(outbox);
  if (isBroken) vi.stubGlobal('indexedDB', undefined);
  const database = openDatabase(NAME, () => undefined);
  useDatabase(outbox, database);
  const held = () =>
    [...entriesOf(outbox)].map(
      ({ record }) => (JSON.parse(record.body) as { event: string }).event,
    );
  const stored = () =>
    vi.waitFor(() => {
      for (const { stored, writes } of outbox.parcels) {
        if (stored !== 'yes' || writes) throw new Error('not stored yet');
      }
      if (outbox.dirty.size) throw new Error('not written yet');
    });
  /** Looks as the pump does when it is time. */
  const lookNow = () => {
    checkLease(outbox);
    claims.hurry();
    claims.look();
  };
  const claimAll = async (isClosed = false) => {
    lookNow();
    for (let isMore = true; isMore;) {
      isMore = false;
      await claims.claim(() => (isMore = true), isClosed);
    }
    return held();
  };
  /** Stores so many parcels of a page that is gone, each with one record. */
  const leaveBehind = (count: number, record = (i: number) => recordOf(`left ${i}`)) =>
    database.run((store) => {
      for (let i = 1; i <= count; i++) {
        const value = { v: 3, life: 'dead', flight: [], records: [record(i)], isNoted: false };
        store.put(value, [clock.time - 1 - count + i, 'maker', i]);
      }
    });
  /** Settles when the transactions before it have ended. */
  const written = () => database.run(() => undefined).catch(() => undefined);
  const add = (...events: string[]) => events.forEach((event) => keep(outbox, recordOf(event)));
  const entry = (event: string) =>
    [...entriesOf(outbox)].find(({ record }) => record.body.includes(`"${event}"`))!;
  return {
    outbox,
    claims,
    database,
    told,
    held,
    stored,
    written,
    leaveBehind,
    contents: () => site.contents(NAME),
    look: lookNow,
    claim: claimAll,
    add,
    entry,
  };
};

export type OutboxPage = ReturnType<typeof openPage>;
