import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Incoming } from '../../../../src/server/incoming.js';
import { NDJSON } from '../../../../src/server/reading/export-rows.js';
import { importRows, type Line } from '../../../../src/server/store/import-rows.js';
import type { Store } from '../../../../src/server/store/port.js';
import { patient } from '../../support/patient.js';
import { json, name as word, text } from '../../../support/nasty.js';
import {
  ALL,
  at,
  event,
  identify,
  rowOf,
  rowsOf,
  scenarioOf,
  times,
  type Part,
} from './scenario.js';

/** The lines of an export. */
const linesOf = async (store: Store): Promise<string[]> =>
  (await rowsOf(store)).map((row) => NDJSON.line(row).trimEnd());

async function* numbered(lines: readonly string[]): AsyncGenerator<Line> {
  for (const [index, line] of lines.entries()) yield { number: index + 1, text: line };
}

const withoutPlaces = (lines: readonly string[]) =>
  lines.map((line) => line.replace(/^\{"seq":\d+,/, '{'));

const second = fc.nat(9).map(at);
const user = fc.constantFrom('u', 'v');
const record = fc.oneof(
  fc
    .record({ called: second, received: second, event: word, tags: json, text, user })
    .map(({ called, received, event: named, tags, text: icon, user: user_id }) =>
      event(
        { event: named, tags, icon, user_id, notify: true, timestamp: received },
        { calledAt: called, receivedAt: received, client: 'abc' },
      ),
    ),
  fc
    .record({
      ...{ called: second, received: second, user },
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.jsonValue()),
    })
    .map(({ called, received, user: user_id, properties }) =>
      identify(
        properties,
        { calledAt: called < received ? called : received, receivedAt: received },
        { user_id },
      ),
    ),
);

/** Storing the rows of an export. */
export const describeImport: Part = (name, enter) => {
  const it = scenarioOf(enter);

  describe(`what ${name} imports`, () => {
    test('is exported as the same text, with the same profiles, and is imported once', async () => {
      const [from, to] = [patient(await enter().open()), patient(await enter().open())];
      const all = fc.array(record, { minLength: 1, maxLength: 30 });
      const again = fc.array(fc.nat(29), { maxLength: 9 });
      await fc.assert(
        fc.asyncProperty(all, again, async (records, repeats) => {
          for (const user_id of ['u', 'v'])
            for (const store of [from, to]) await store.erase({ project: 'p', user_id });
          await from.write(records);
          await from.write(repeats.flatMap<Incoming>((n) => records[n] ?? []));
          const lines = await linesOf(from);
          const content = async (store: Store) => ({
            lines: withoutPlaces(await linesOf(store)),
            profiles: await store.profiles({}, ALL),
          });
          const source = await content(from);
          const none = { dead: 0, wrong: 0, hasUsers: true };
          for (const rows of [records.length, 0]) {
            const imported = await importRows(to, numbered(lines));
            expect(imported).toEqual({ lines: records.length, rows, ...none });
            expect(await content(to)).toEqual(source);
          }
        }),
        { numRuns: 25 },
      );
    });

    it('goes on behind lines that are no rows, and behind rows that the database refuses', async (store, world) => {
      await world.spoil('bad', 'no');
      const good = times(5, (n) =>
        JSON.stringify(rowOf(event({ event: n === 2 ? 'bad' : `e${n}` }))),
      );
      const wrong = ['{', JSON.stringify({ ...rowOf(event()), received_at: 'now' })];
      const told: number[] = [];
      const lines = [good[0]!, wrong[0]!, ...good.slice(1, 4), wrong[1]!, good[4]!];
      const counts = { lines: 7, rows: 4, dead: 1, wrong: 2, hasUsers: false };
      expect(
        await importRows(store, numbered(lines), { onWrong: (number) => told.push(number) }),
      ).toEqual(counts);
      expect(told).toEqual([2, 6]);
      expect((await rowsOf(store)).map((row) => row.event)).toEqual(['e0', 'e1', 'e3', 'e4']);
      expect(await store.refused(ALL)).toMatchObject([{ isDead: true, message: 'no' }]);
    });
  });
};
