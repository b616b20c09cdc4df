import { expect, it } from 'vitest';
import { checkRecord, weighBody } from '../../../src/relay/front/records.js';

const record = (tags: object = {}) => ({ id: 'a', type: 'event', body: { event: 'e', tags } });
const tokensOf = (value: unknown) => weighBody(JSON.stringify(value)).tokens;

it('asks for a token a record', () => {
  expect(tokensOf({ sent_at: 'x', records: [] })).toBe(1);
  expect(tokensOf({ sent_at: 'x', records: Array(50).fill(record()) })).toBe(50);
  expect(tokensOf({ sent_at: '}{[', records: Array(3).fill(record({ a: { b: {} } })) })).toBe(3);
});

it('asks for a token each 4 KiB, and each 256 values', () => {
  expect(tokensOf('x'.repeat(8 * 4_096))).toBe(9);
  expect(tokensOf(Array(2_559).fill(1))).toBe(10);
});

it.each(['\\', '\\\\', '"', '\\"', '","', '{[', '\\u0022'])('is not misled by %j', (text) => {
  const body = { sent_at: text, records: [record({ [text]: text }), record()] };
  expect(weighBody(JSON.stringify(body))).toEqual({ tokens: 2, isTooMuch: false });
});

it.each(['"', '"\\', '{"a', ']]]]', '\\'])('ends with the body %j', (text) => {
  expect(weighBody(text)).toEqual({ tokens: 1, isTooMuch: false });
});

it('takes any body of 60,000 bytes, and no more than 32,768 values', () => {
  expect(weighBody(`[${'1,'.repeat(30_000)}1]`).isTooMuch).toBe(false);
  expect(weighBody(`[${'1,'.repeat(33_000)}1]`).isTooMuch).toBe(true);
  expect(weighBody('['.repeat(33_000)).isTooMuch).toBe(true);
});

it('refuses a project of over a kilobyte where any may be written to, since it is a part of keys', () => {
  const body = { project: 'é'.repeat(513), channel: 'c', event: 'e' };
  const all = { projects: '*', channels: '*' } as const;
  const refused = { id: 'a', outcome: 'rejected', status: 400, field: 'project' };
  expect(checkRecord({ id: 'a', type: 'event', body }, all)).toEqual(refused);
});

it.each(['1e400', '-1e400', '9'.repeat(309)])(
  'refuses a number that no double holds, which would go on as null: %s',
  (number) => {
    const text = `{"project":"p","channel":"c","event":"e","tags":{"a":[${number}]}}`;
    const all = { projects: '*', channels: '*' } as const;
    const refused = { id: 'a', outcome: 'rejected', status: 400, field: 'tags' };
    expect(checkRecord({ id: 'a', type: 'event', body: JSON.parse(text) }, all)).toEqual(refused);
  },
);
