import { describe, expect, test } from 'vitest';
import { wrongField } from '../../src/interface/validate';
import { badEvents, badIdentifies } from './bad-bodies';

const event = { project: 'p', channel: 'c', event: 'e' };
const identify = { project: 'p', user_id: 'u', properties: {} };

describe('the body of an identify call', () => {
  test.each([
    ['empty properties', identify],
    ['free properties', { ...identify, properties: { a: 1, b: null, c: [{ d: true }] } }],
    ['a space as project', { ...identify, project: ' ' }],
    ['an unknown field', { ...identify, channel: 1 }],
    ['a property named __proto__', { properties: JSON.parse('{"__proto__":null}') as object }],
  ])('accepts %s', (_, body: object) => {
    expect(wrongField('identify', { ...identify, ...body })).toBeUndefined();
  });

  test.each(badIdentifies)('names the field when the body %s', (_, body, wrong) => {
    expect(wrongField('identify', body)).toBe(wrong);
  });
});

describe('the body of an event call', () => {
  test.each([
    ['the required fields', {}],
    [
      'every field',
      {
        description: 'd',
        icon: '🔥',
        notify: true,
        tags: { a: [1, null] },
        user_id: 'u',
        timestamp: '2026-01-01T00:00:00.5+01:00',
      },
    ],
    ['empty optional texts', { description: '', icon: '', user_id: '' }],
    ['optional fields set to undefined', { notify: undefined, tags: undefined }],
    ['an unknown field', { extra: null }],
  ])('accepts %s', (_, fields) => {
    expect(wrongField('event', { ...event, ...fields })).toBeUndefined();
  });

  test.each(badEvents)('names the field when the body %s', (_, body, wrong) => {
    expect(wrongField('event', body)).toBe(wrong);
  });
});
