import { describe, expect, it } from 'vitest';
import { resolveOptions, type Settings } from '../../src/client/options.js';
import { recordOf, type Call, type Refusal } from '../../src/client/record.js';
import type { DirectOptions, Draft } from '../../src/client/types.js';

const AT = Date.parse('2026-01-31T12:00:00.123Z');

const settingsOf = (more: Partial<DirectOptions> = {}): Settings =>
  resolveOptions(
    { baseUrl: 'https://in.example.com', token: 't', project: 'shop', channel: 'web', ...more },
    'https://site.example',
    true,
  );

const make = (call: Partial<Call>, more: Partial<DirectOptions> = {}) =>
  recordOf(
    { type: 'event', at: AT, subject: 'e', given: undefined, ...call },
    settingsOf(more),
    undefined,
  );
const bodyOf = (...args: Parameters<typeof make>) =>
  JSON.parse(make(...args).body) as Record<string, unknown>;
const refusal = (...args: Parameters<typeof make>): string => {
  try {
    make(...args);
    return 'none';
  } catch (error) {
    return (error as Refusal).reason ?? 'not-serializable';
  }
};

// What becomes of fields, tags and ids is in record.properties.test.ts and test/api/values.test.ts.
describe('the time of an event', () => {
  it.each([
    [null, '2026-01-31T12:00:00.123Z'], // that of the call
    [new Date('2026-01-31'), '2026-01-31T00:00:00.000Z'],
    [0, '1970-01-01T00:00:00.000Z'],
    [1_769_817_600_000, '2026-01-31T00:00:00.000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T01:00:00+01:00', '2026-01-31T00:00:00.000Z'],
  ])('may be %s', (timestamp, text) => {
    expect(bodyOf({ given: { timestamp } }).timestamp).toBe(text);
  });

  it.each([
    ['microseconds', 1_769_817_600_000_000],
    ['a year before our era', new Date(-1e14)],
    ['a year of six figures', '+057871-01-01T00:00:00.000Z'],
    ['a flag', true],
    ['another flag', false],
    ['two figures', '99'],
    ['a text that is no time', 'now'],
    ['a text that begins with a month', 'Jan 31 2026'],
    ['an object', {}],
    ['no time', NaN],
  ])('may not be %s', (_, timestamp) => {
    expect(refusal({ given: { timestamp } })).toBe('invalid-call');
  });
});

describe('`context`', () => {
  it('gives tags to every event, and counts after those of the call', () => {
    const context = { plan: 'free', path: '/' };
    expect(bodyOf({ given: { plan: 'pro' } }, { context }).tags).toEqual({
      plan: 'pro',
      path: '/',
    });
    expect(bodyOf({}, { context: () => context }).tags).toEqual(context);
  });

  it('is asked with the tags of the call, and with what the page was then', () => {
    const context = (known: object) => ({ known });
    const given = { plan: 'pro', tags: { path: '/own' } };
    const seen = { path: '/seen', title: 'Seen' };
    const { tags } = bodyOf({ given, seen }, { context });
    expect(tags).toEqual({
      plan: 'pro',
      path: '/own',
      known: { plan: 'pro', path: '/own', title: 'Seen' },
    });
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['gives a text', () => 'abc'],
    ['is async', () => Promise.resolve({ plan: 'pro' })],
    ['gives what JSON cannot carry', () => ({ n: 1n })],
  ])('that %s gives none, and costs no event', (_, context) => {
    expect(bodyOf({}, { context: context as () => object }).tags).toEqual({});
  });

  it('that is an object stays as it is, though `beforeSend` changes its tags', () => {
    const context = { app: { name: 'shop' } };
    const beforeSend = (draft: Draft) => {
      (draft.body as { tags: typeof context }).tags.app.name = 'changed';
      return draft;
    };
    expect(bodyOf({}, { context, beforeSend }).tags).toEqual({ app: { name: 'changed' } });
    expect(context).toEqual({ app: { name: 'shop' } });
  });

  it('that makes an event gets none for it, and does not go on for ever', () => {
    const made: unknown[] = [];
    const context = (): object => {
      made.push(bodyOf({ subject: 'inner' }, { context }).tags);
      return { plan: 'pro' };
    };
    expect(bodyOf({}, { context }).tags).toEqual({ plan: 'pro' });
    expect(made).toEqual([{}]);
  });
});

describe('`beforeSend`', () => {
  it('may change a copy of what is sent', () => {
    const given = { tags: { secret: 1, plan: 'pro' } };
    const beforeSend: DirectOptions['beforeSend'] = (draft) => {
      delete (draft.body as { tags: Record<string, unknown> }).tags.secret;
      return draft;
    };
    expect(bodyOf({ given }, { beforeSend }).tags).toEqual({ plan: 'pro' });
    expect(given.tags.secret).toBe(1);
  });

  it('may drop it, and drops it by a mistake of its own, so that nothing leaks', () => {
    expect(refusal({}, { beforeSend: () => null })).toBe('before-send');
    expect(refusal({}, { beforeSend: () => undefined as never })).toBe('before-send-error');
    const beforeSend = () => {
      throw new Error('no');
    };
    expect(refusal({}, { beforeSend })).toBe('before-send-error');
  });
});
