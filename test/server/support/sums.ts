import { expect } from 'vitest';
import { openProfile } from '../../../src/server/store/merge-profile.js';
import type { Row, Store } from '../../../src/server/store/port.js';
import type { IdentifyBody } from '../../../src/interface/bodies.js';

const EVER = { from: '2020-01-01T00:00:00.000Z', to: '2020-12-31T00:00:00.000Z' };

/** All rows of a store. */
export const allRows = async (store: Store): Promise<Row[]> => {
  const rows: Row[] = [];
  for (let page: Row[] = []; ; rows.push(...page)) {
    page = await store.rows({}, { after: rows.at(-1)?.seq, limit: 5_000 });
    if (!page.length) return rows;
  }
};

const sorted = (value: object) => Object.fromEntries(Object.entries(value).sort());

/**
 * Compares counts, sums and profiles with what the rows say. `without`: the ids of rows that the sums or the profiles have
 * left out.
 */
export const expectFollowed = async (
  store: Store,
  without: { sums?: readonly string[]; profiles?: readonly string[] } = {},
): Promise<void> => {
  const rows = await allRows(store);
  const summed = rows.filter(({ id }) => !without.sums?.includes(id));
  const counts = new Map<string, number>();
  const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const { project, type } of summed) add(`${project} ${type}`);
  const counted = (await store.counts()).map(
    ({ project, type, rows: n }) => [`${project} ${type}`, n] as const,
  );
  expect(sorted(Object.fromEntries(counted))).toEqual(sorted(Object.fromEntries(counts)));

  const times = rows.map(({ received_at }) => received_at).sort();
  const span = times.length
    ? {
        from: `${times[0]!.slice(0, 13)}:00:00.000Z`,
        to: new Date(
          Date.parse(`${times.at(-1)!.slice(0, 13)}:00:00.000Z`) + 3_600_000,
        ).toISOString(),
      }
    : EVER;
  const { hours, events = [] } = await store.hours({ ...span, split: true });
  const classes = hours.map((hour) =>
    [hour.in_2s, hour.in_1m, hour.in_1h, hour.later, hour.from_server].reduce((a, b) => a + b),
  );
  expect(classes).toEqual(hours.map((hour) => hour.rows));
  for (const [index, { hour, rows: n }] of hours.entries()) {
    const own = summed.filter(({ received_at }) => received_at.startsWith(hour.slice(0, 13)));
    expect([hour, n]).toEqual([hour, own.length]);
    for (const { event, rows: each } of events) {
      if (event === '…') continue;
      const named = own.filter((row) => (row.event ?? '') === event);
      expect([hour, event, each[index]]).toEqual([hour, event, named.length]);
    }
  }

  const merged = new Map<string, ReturnType<typeof openProfile>>();
  for (const { id, type, project, user_id, body, called_at } of rows) {
    if (type !== 'identify' || without.profiles?.includes(id)) continue;
    const key = `${project} ${user_id}`;
    const profile = merged.get(key) ?? openProfile(undefined);
    merged.set(key, profile);
    profile.merge({ properties: (body as IdentifyBody).properties, set_at: called_at });
  }
  const profiles = await store.profiles({}, { limit: 100_000 });
  const kept = profiles.map(({ project, user_id, properties, set_at }) => [
    `${project} ${user_id}`,
    [sorted(properties), sorted(set_at)],
  ]);
  const expected = [...merged].map(([key, profile]) => {
    const { properties, set_at } = profile.texts();
    return [key, [properties, set_at].map((text) => sorted(JSON.parse(text) as object))];
  });
  expect(Object.fromEntries(kept)).toEqual(Object.fromEntries(expected));
};
