import { expect, it } from 'vitest';
import { event, runService } from './support/run-service.js';

const ARRIVAL = '2026-03-01T12:00:05.000Z';

it.each([
  ['2026-03-01T13:00:00+01:00', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01t11:59:59.1234567z', '2026-03-01T11:59:59.123Z'],
  ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
  ['2999-01-01T00:00:00Z', '2999-01-01T00:00:00.000Z'],
  ['0000-01-01T00:00:00Z', ARRIVAL],
  ['0001-01-01T00:00:00+00:01', ARRIVAL],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59.000Z'],
  ['1815-12-10T12:00:00+01:00', '1815-12-10T11:00:00.000Z'],
  ['1899-12-31T23:59:59.999Z', '1899-12-31T23:59:59.999Z'],
  ['9999-12-31T23:59:59-23:00', ARRIVAL],
  ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
])(
  'an event of %s has the time of its arrival if a store cannot keep its own',
  async (timestamp, kept) => {
    const { post, rows } = runService({ now: () => Date.parse(ARRIVAL) });
    expect((await post('/v1/event', { ...event, timestamp })).status).toBe(200);
    expect((await rows()).map(({ called_at }) => called_at)).toEqual([kept]);
  },
);
