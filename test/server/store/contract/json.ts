import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EventBody } from '../../../../src/interface/bodies.js';
import type { Store } from '../../../../src/server/store/port.js';
import { patient } from '../../support/patient.js';
import {
  ALL,
  KNOWN,
  STORED,
  event,
  first,
  identify,
  idsOf,
  profileOf,
  rowsOf,
  scenarioOf,
  type Part,
} from './scenario.js';

/** The JSON of tags and properties, as it comes back. */
export const describeJson: Part = (name, enter) => {
  const open = async () => patient(await enter().open());
  const it = scenarioOf(enter);
  /** What a body's tags are when they are read again. */
  const kept = async (store: Store, tags: object): Promise<unknown> => {
    const record = event({ tags });
    expect(await store.write([record])).toEqual([STORED]);
    const [row] = await store.rows({}, { limit: 1, newest: true });
    expect(row!.id).toBe(record.id);
    return (row!.body as EventBody).tags;
  };

  describe(`the JSON that ${name} keeps`, () => {
    it('is what was sent, whatever it was', async (store) => {
      const tags = fc.dictionary(fc.string(), fc.jsonValue());
      await fc.assert(
        fc.asyncProperty(fc.array(tags, { minLength: 1, maxLength: 20 }), async (all) => {
          const sent = JSON.parse(JSON.stringify(all).replaceAll('\\u0000', '')) as object[];
          await store.write(sent.map((tags) => event({ tags })));
          const rows = await store.rows({}, { limit: sent.length, newest: true });
          expect(rows.map(({ body }) => (body as EventBody).tags).reverse()).toEqual(sent);
        }),
        { numRuns: 20 },
      );
    });

    const LONG = [
      `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
      `{"a":${'{"b":'.repeat(100)}1${'}'.repeat(100)}}`,
      `{"a":"${'x'.repeat(60_000)}"}`,
      JSON.stringify({ a: 'ü🎉"\\'.repeat(5_000) }),
    ];
    test.each([
      ['{"a":1e400,"b":[-1e400]}', { a: null, b: [null] }], // JSON has no infinity
      ['{"a":-0,"b":5e-324,"c":1.7976931348623157e308,"d":9007199254740993}'],
      ['{"a":0.1,"b":1e21,"c":-1e-7,"d":123456789012345680000}'],
      ['{"__proto__":{"a":1},"constructor":1,"":2}'],
      ['{"a\\\\u0000":"\\\\u0000 \\\\ud800"}'], // a backslash and letters
      ['{"a":"\\u202e\\u200b\\ufeff</script>\\u2028\\ud83d\\ude00"}'],
      ...LONG.map((text) => [text] as [string]),
    ])('is the same in tags and properties: %$', async (text, expected?: object) => {
      const store = await open();
      const sent = JSON.parse(text) as object;
      const back = expected ?? (JSON.parse(JSON.stringify(sent)) as object);
      expect(await kept(store, sent)).toEqual(back);
      await store.write([identify(sent)]);
      const profile = await profileOf(store);
      expect(profile.properties).toEqual(back);
      expect(Object.keys(profile.set_at).sort()).toEqual(Object.keys(back).sort());
    });

    it('has U+FFFD in place of NUL and of half a character, and the records are counted', async () => {
      const replaced: number[] = [];
      const onReplaced = (records: number): void => {
        replaced.push(records);
        throw new Error('a fault of the operator');
      };
      const store = patient(await enter().open({ onReplaced }));
      const bad = 'a\0b\ud800c\udc00';
      const good = 'a\ufffdb\ufffdc\ufffd';
      const records = [
        event({ event: bad, user_id: bad, tags: { [bad]: [bad, { [bad]: bad }] } }),
        event({ tags: { a: '😀 \\u0000' } }),
        identify({ [bad]: bad }, { id: bad }, { user_id: bad }),
      ];
      expect(await store.write(records)).toEqual([STORED, STORED, STORED]);
      expect(replaced).toEqual([2]);
      const [one, two, three] = await rowsOf(store);
      expect(one).toMatchObject({ event: good, user_id: good });
      expect((one!.body as EventBody).tags).toEqual({ [good]: [good, { [good]: good }] });
      expect(two!.body).toEqual(records[1]!.body);
      expect(three).toMatchObject({ id: good, user_id: good });
      expect(await store.write(records)).toEqual([KNOWN, KNOWN, KNOWN]);
      const profile = first(await store.profiles({ user_id: bad }, ALL));
      expect(profile).toMatchObject({ user_id: good, properties: { [good]: good } });
      expect(idsOf(await store.rows({ event: [bad], user_id: bad }, ALL))).toEqual([one!.id]);
      expect(await store.rows({ text: bad, not: [bad] }, ALL)).toHaveLength(1);
      expect(await store.erase({ project: 'p', user_id: bad })).toBe(2);
    });
  });
};
