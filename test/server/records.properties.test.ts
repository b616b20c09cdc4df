import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wrongField } from '../../src/interface/validate.js';
import { checkRecord, isId, parseBatch } from '../../src/server/records.js';
import { isRefusal } from '../../src/server/refusal.js';
import { MAX_BATCH_RECORDS } from '../../src/interface/wire.js';
import { json } from '../support/nasty.js';

const RULES = { projects: ['p'], channels: ['c'], fillsIn: false };
const circumstances = { receivedAt: '2026-01-01T00:00:00.000Z', mayWrite: () => true };
const id = fc.stringMatching(/^[!-~]{1,255}$/);
/** The fields of a body, each right or anything. */
const body = fc.record(
  {
    project: fc.oneof(fc.constant('p'), fc.jsonValue()),
    channel: fc.oneof(fc.constant('c'), fc.jsonValue()),
    user_id: fc.oneof(fc.constant('u'), fc.jsonValue()),
    event: fc.oneof(fc.constant('e'), fc.jsonValue()),
    properties: fc.oneof(json, fc.jsonValue()),
    tags: fc.oneof(json, fc.jsonValue()),
    notify: fc.oneof(fc.boolean(), fc.jsonValue()),
    timestamp: fc.oneof(fc.constant('2026-01-01T00:00:00Z'), fc.jsonValue()),
    other: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const record = fc.record(
  {
    id: fc.oneof(id, fc.jsonValue()),
    type: fc.oneof(fc.constantFrom('identify', 'event', 'toString'), fc.jsonValue()),
    body: fc.oneof(body, fc.jsonValue()),
  },
  { requiredKeys: [] },
);
const batch = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc
    .record(
      {
        sent_at: fc.oneof(fc.constant('t'), fc.jsonValue()),
        records: fc.oneof(fc.array(record, { maxLength: 4 }), fc.jsonValue()),
      },
      { requiredKeys: [] },
    )
    .map((made) => JSON.stringify(made)),
  fc
    .array(id, { minLength: 98, maxLength: 103 })
    .map((ids) => JSON.stringify({ sent_at: 't', records: ids.map((one) => ({ id: one })) })),
);

describe('a batch of any text', () => {
  it('is refused, or its records have ids that may go into a header', () => {
    fc.assert(
      fc.property(batch, (text) => {
        const parsed = parseBatch(text);
        if (!Array.isArray(parsed)) return void expect([400, 413]).toContain(parsed.status);
        expect(parsed.length).toBeLessThanOrEqual(MAX_BATCH_RECORDS);
        for (const one of parsed) {
          expect(new Headers({ id: one.id }).get('id')).toBe(one.id);
          expect(isId(one.id)).toBe(true);
        }
      }),
    );
  });

  it('keeps all records, in their order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(id, fc.jsonValue(), fc.jsonValue()), { maxLength: 20 }),
        (all) => {
          const records = all.map(([one, type, given]) => ({ id: one, type, body: given }));
          const text = JSON.stringify({ sent_at: 't', records });
          expect(parseBatch(text)).toEqual((JSON.parse(text) as { records: unknown }).records);
        },
      ),
    );
  });
});

describe('any claimed record', () => {
  it('is refused, or is right, allowed, and has nothing beside what the interface knows', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('identify', 'event'),
        fc.oneof(body, fc.jsonValue()),
        (type, given) => {
          const parsed: unknown = JSON.parse(JSON.stringify(given));
          const checked = checkRecord({ id: 'x', type, body: parsed }, RULES, circumstances);
          if (isRefusal(checked)) return void expect([400, 403]).toContain(checked.status);
          const passed = checked.body as unknown as Record<string, unknown>;
          expect(JSON.parse(checked.text)).toEqual(passed);

          expect(wrongField(type, passed)).toBeUndefined();
          expect(passed['project']).toBe('p');
          if (type === 'event') expect(passed['channel']).toBe('c');
          expect(passed).not.toHaveProperty('other');
          expect(parsed).toMatchObject(passed);
        },
      ),
    );
  });
});

it.each(['1e400', '-1e400', '9'.repeat(309)])(
  'refuses a number that no double holds, which would go on as null: %s',
  (number) => {
    const text = `{"project":"p","channel":"c","event":"e","tags":{"a":[${number}]}}`;
    const record = { id: 'a', type: 'event', body: JSON.parse(text) as unknown };
    const refused = { reason: 'field', status: 400, field: 'tags' };
    expect(checkRecord(record, RULES, circumstances)).toMatchObject(refused);
  },
);

it('refuses a project of over a kilobyte where any may be written to, since it is a part of keys', () => {
  const given = { project: 'é'.repeat(513), channel: 'c', event: 'e' };
  const any = { ...RULES, projects: '*' as const, channels: '*' as const };
  const refused = { reason: 'field', status: 400, field: 'project' };
  expect(checkRecord({ id: 'a', type: 'event', body: given }, any, circumstances)).toMatchObject(
    refused,
  );
});
