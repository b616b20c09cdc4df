import { describe, expect, it } from 'vitest';
import { resolveOptions, type Settings } from '../../src/client/options.js';
import { recordOf, type Call, type Refusal } from '../../src/client/record.js';
import { checkRecord } from '../../src/relay/front/records.js';
import type { DirectOptions, Draft } from '../../src/client/types.js';

const AT = Date.parse('2026-01-31T12:00:00.123Z');

const settingsOf = (more: Partial<DirectOptions> = {}): Settings =>
  resolveOptions(
    { baseUrl: 'https://in.example.com', token: 't', project: 'shop', channel: 'web', ...more },
    'https://site.example',
    true,
  );

const make = (call: Partial<Call>, more: Partial<DirectOptions> = {}, user?: string) =>
  recordOf(
    { type: 'event', at: AT, subject: 'e', given: undefined, ...call },
    settingsOf(more),
    user,
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

describe('an event', () => {
  it('has the names of the interface, the time of the call, and no field that was not given', () => {
    expect(bodyOf({ subject: 'Signed Up' })).toEqual({
      project: 'shop',
      channel: 'web',
      event: 'Signed Up',
      tags: {},
      timestamp: '2026-01-31T12:00:00.123Z',
    });
  });

  it('takes all fields of the interface, and the wire name of the user', () => {
    const fields = { channel: 'c', description: 'd', icon: 'i', notify: true, user_id: 'u' };
    expect(bodyOf({ given: { ...fields, timestamp: new Date(0) } })).toMatchObject({
      ...fields,
      timestamp: '1970-01-01T00:00:00.000Z',
    });
  });

  it('makes tags of all other keys, and counts what stands in `tags` before them', () => {
    expect(bodyOf({ given: { plan: 'pro', seats: 1, tags: { seats: 3 } } }).tags).toEqual({
      plan: 'pro',
      seats: 3,
    });
  });

  it('has the identified user, another, or none', () => {
    expect(bodyOf({}, {}, 'user_1').user_id).toBe('user_1');
    expect(bodyOf({ given: { userId: 'user_2' } }, {}, 'user_1').user_id).toBe('user_2');
    expect(bodyOf({ given: { userId: null } }, {}, 'user_1')).not.toHaveProperty('user_id');
  });

  it.each([null, undefined])('without fields may be called with %s', (given) => {
    expect(bodyOf({ given }).event).toBe('e');
  });

  it('takes the time of the call where `timestamp` is null', () => {
    expect(bodyOf({ given: { timestamp: null } }).timestamp).toBe('2026-01-31T12:00:00.123Z');
  });

  it.each([
    [new Date('2026-01-31'), '2026-01-31T00:00:00.000Z'],
    [0, '1970-01-01T00:00:00.000Z'],
    [1_769_817_600_000, '2026-01-31T00:00:00.000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T01:00:00+01:00', '2026-01-31T00:00:00.000Z'],
  ])('takes the time %s', (timestamp, text) => {
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
  ])('refuses as its time %s', (_, timestamp) => {
    expect(refusal({ given: { timestamp } })).toBe('invalid-call');
  });

  const atRelay = (body: object) =>
    checkRecord({ id: 'i', type: 'event', body }, { projects: ['shop'], channels: ['web'] });

  it('refuses at the call what a relay refuses: an id of a user that is too long', () => {
    const userId = 'é'.repeat(513);
    expect(refusal({ given: { userId } })).toBe('invalid-call');
    const body = { project: 'shop', channel: 'web', event: 'e', user_id: userId };
    expect(atRelay(body)).toHaveProperty('outcome', 'rejected');
  });

  it.each([
    ['a key `__proto__`', { a: [JSON.parse('{"__proto__":{"polluted":1}}')] }],
    ['many levels', JSON.parse('['.repeat(198) + ']'.repeat(198))],
    ['many things side by side', Array.from({ length: 100 }, () => [{}])],
  ])('takes what a relay takes: %s', (_, tag) => {
    const body = bodyOf({ given: { tag } });
    const text = JSON.stringify({ tag });
    expect(JSON.stringify(body.tags)).toBe(text);
    expect(JSON.stringify(atRelay(body))).toContain(text);
    expect('polluted' in {}).toBe(false);
  });

  it('tells whose it is, so that it can be put in order', () => {
    expect(make({}, {}, 'user_1')).toMatchObject({
      type: 'event',
      at: AT,
      attempts: 0,
      user: 'user_1',
    });
    expect(make({}).user).toBeUndefined();
  });
});

describe('an identify', () => {
  const identify = { type: 'identify' as const, subject: 'user_1' };

  it('has the properties, or none', () => {
    expect(bodyOf({ ...identify, given: { plan: 'pro' } })).toEqual({
      project: 'shop',
      user_id: 'user_1',
      properties: { plan: 'pro' },
    });
    expect(bodyOf(identify).properties).toEqual({});
  });

  it('takes a number for an id', () => {
    expect(bodyOf({ ...identify, subject: 42 }).user_id).toBe('42');
    expect(bodyOf({ given: { userId: 0 } }).user_id).toBe('0');
  });

  it.each([undefined, null, '', 'undefined', 'null', {}, '[object Object]', NaN, true])(
    'with %j for an id is refused',
    (subject) => expect(refusal({ ...identify, subject })).toBe('invalid-call'),
  );
});

describe('a wrong call', () => {
  it.each<[string, Partial<Call>]>([
    ['without a name', { subject: '' }],
    ['with a name that is no text', { subject: 7 }],
    ['with a text for the fields', { given: 'pro' }],
    ['with a list for the fields', { given: [] }],
    ['with tags that are no object', { given: { tags: 'pro' } }],
    ['with a time that is none', { given: { timestamp: 'soon' } }],
    ['with an id that is none', { given: { userId: {} } }],
  ])('%s is refused', (_, call) => expect(refusal(call)).toBe('invalid-call'));

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  it.each<[string, object]>([
    ['a cyclic object', cyclic],
    ['a BigInt', { n: 1n }],
    [
      'a getter that throws',
      {
        get bad() {
          throw new Error('no');
        },
      },
    ],
  ])('with %s is refused', (_, given) => expect(refusal({ given })).toBe('not-serializable'));

  it('is refused when it is larger than allowed, counted in bytes of UTF-8', () => {
    const given = { text: 'é'.repeat(100) };
    const { length } = new TextEncoder().encode(make({ given }).body);
    expect(refusal({ given }, { maxRecordBytes: length })).toBe('none');
    expect(refusal({ given }, { maxRecordBytes: length - 1 })).toBe('too-large');
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
