import { expect, it } from 'vitest';
import type { RecordType } from '../../src/interface/bodies.js';
import { wrongField } from '../../src/interface/validate.js';

const TIME = '2026-01-01T00:00:00.5+01:00';
const FULL_TEXTS = [' ', '{}', 'true', '2026-01-01', '2026-02-30T00:00:00Z', TIME];
const TEXTS = ['', ...FULL_TEXTS];
const OBJECTS = [
  ...[{}, { a: 1, b: null, c: [{ d: true }] }],
  JSON.parse('{"__proto__":null}') as object,
];
const OTHERS = [undefined, null, 0, 1, true, false, [], ['x'], [TIME]];
const VALUES = [...OTHERS, ...TEXTS, ...OBJECTS];

/** The values that each field takes. Where `undefined` is one of them, it may be left out. */
const FIELDS: Readonly<Record<RecordType, Readonly<Record<string, unknown[]>>>> = {
  identify: { project: FULL_TEXTS, user_id: FULL_TEXTS, properties: OBJECTS, unknown: VALUES },
  event: {
    ...{ project: FULL_TEXTS, channel: FULL_TEXTS, event: FULL_TEXTS },
    description: [undefined, ...TEXTS],
    icon: [undefined, ...TEXTS],
    notify: [undefined, true, false],
    tags: [undefined, ...OBJECTS],
    user_id: [undefined, ...TEXTS],
    timestamp: [undefined, TIME],
    unknown: VALUES,
  },
};
const WHOLE = {
  identify: { project: 'p', user_id: 'u', properties: {} },
  event: { project: 'p', channel: 'c', event: 'e' },
};

const cases = (['identify', 'event'] as const).flatMap((type) =>
  Object.entries(FIELDS[type]).map(([field, fits]) => [type, field, fits] as const),
);

it.each(cases)('the body of an %s takes no other %s, and names it', (type, field, fits) => {
  for (const value of VALUES) {
    const wrong = wrongField(type, { ...WHOLE[type], [field]: value });
    expect([value, wrong]).toEqual([value, fits.includes(value) ? undefined : field]);
  }
});

it.each(['identify', 'event'] as const)('the body of an %s must be an object', (type) => {
  for (const body of [...OTHERS, ...TEXTS]) expect(wrongField(type, body)).toBe('body');
});
