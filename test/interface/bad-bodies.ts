const event = { project: 'p', channel: 'c', event: 'e' };
const identify = { project: 'p', user_id: 'u', properties: {} };

export type BadBody = [why: string, body: unknown, wrong: string];

const notObjects: BadBody[] = [
  ['is null', null, 'body'],
  ['is an array', [], 'body'],
  ['is a string', 'text', 'body'],
  ['is a number', 1, 'body'],
];

const notTexts: [string, unknown][] = [
  ['null', null],
  ['a number', 1],
  ['true', true],
  ['an array', ['x']],
  ['an object', {}],
];

const notObjectValues: [string, unknown][] = [
  ['null', null],
  ['a string', '{}'],
  ['a number', 0],
  ['an array', []],
  ['true', true],
];

const notBooleans: [string, unknown][] = [
  ['null', null],
  ['a string', 'true'],
  ['a number', 1],
  ['an object', {}],
];

function requiredTexts(body: object, fields: string[]): BadBody[] {
  return fields.flatMap((field): BadBody[] => [
    [`lacks ${field}`, { ...body, [field]: undefined }, field],
    [`has an empty ${field}`, { ...body, [field]: '' }, field],
    ...withValues(body, field, notTexts),
  ]);
}

function withValues(body: object, field: string, values: [string, unknown][]): BadBody[] {
  return values.map(([what, value]) => [
    `has ${what} as ${field}`,
    { ...body, [field]: value },
    field,
  ]);
}

/** Every way an identify body can break the interface. */
export const badIdentifies: BadBody[] = [
  ...notObjects,
  ...requiredTexts(identify, ['project', 'user_id']),
  ['lacks properties', { ...identify, properties: undefined }, 'properties'],
  ...withValues(identify, 'properties', notObjectValues),
];

/** Every way an event body can break the interface. */
export const badEvents: BadBody[] = [
  ...notObjects,
  ...requiredTexts(event, ['project', 'channel', 'event']),
  ...['description', 'icon', 'user_id', 'timestamp'].flatMap((field) =>
    withValues(event, field, notTexts),
  ),
  ...withValues(event, 'notify', notBooleans),
  ...withValues(event, 'tags', notObjectValues),
  ...withValues(event, 'timestamp', [
    ['an empty string', ''],
    ['a date alone', '2026-01-01'],
    ['a date that is in no calendar', '2026-02-30T00:00:00Z'],
    ['a time without an offset', '2026-01-01T00:00:00'],
    // As text it is one.
    ['a date-time in an array', ['2026-01-01T00:00:00Z']],
  ]),
];
