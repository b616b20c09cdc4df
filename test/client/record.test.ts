import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveOptions } from '../../src/client/options.js';
import { recordOf, type Call, type Refusal } from '../../src/client/record.js';
import type { DirectOptions, Draft, OutboxRecord } from '../../src/client/types.js';
import { wrongField } from '../../src/interface/validate.js';
import { json, makeEach, name, nasty, text, userId as id } from '../support/nasty.js';
import { DIRECT } from '../support/site.js';

const AT = Date.parse('2026-01-31T12:00:00.123Z');
const MAX_BYTES = 2_000;
const LATEST = Date.UTC(9999, 0);

const make = (call: Partial<Call>, more: Partial<DirectOptions> = {}, user?: string) =>
  recordOf(
    { type: 'event', at: AT, subject: 'e', given: undefined, ...call },
    resolveOptions({ ...DIRECT, maxRecordBytes: MAX_BYTES, ...more }, 'https://site.test', true),
    user,
    new Set(),
  );
/** The record of a call, or what the call throws. */
const tryTo = (...args: Parameters<typeof make>): OutboxRecord | Refusal => {
  try {
    return make(...args);
  } catch (error) {
    return error as Refusal;
  }
};
/** Why a call becomes no record. */
const refusal = (...args: Parameters<typeof make>): string => {
  const made = tryTo(...args);
  return 'body' in made ? 'none' : (made.reason ?? 'not-serializable');
};
const textOf = ({ body }: OutboxRecord) => JSON.parse(body) as Record<string, unknown>;
const bodyOf = (...args: Parameters<typeof make>) => textOf(make(...args));

const FIELDS = ['timestamp', 'tags', 'userId', 'channel', 'description', 'icon', 'notify'];

const nastyCall: fc.Arbitrary<() => Partial<Call>> = fc.oneof(
  fc
    .tuple(fc.constantFrom('identify' as const, 'event' as const), nasty, nasty)
    .map(([type, subject, given]) => () => ({ type, subject: subject(), given: given() })),
  // Right in all but a few fields.
  fc
    .dictionary(fc.constantFrom(...FIELDS, 'plan', '__proto__'), nasty, { maxKeys: 2 })
    .map((fields) => () => ({ given: makeEach(fields) })),
  nasty.map((timestamp) => () => ({ given: { timestamp: timestamp() } })),
  nasty.map((properties) => () => ({
    type: 'identify' as const,
    subject: 'u',
    given: properties(),
  })),
  fc.double().map((at) => () => ({ at })),
);

describe('making a record of any call', () => {
  it('makes nothing that is too large, and has name and user in their right form', () => {
    // The other fields are sent as they are: the service refuses what is wrong with them.
    const right = ['body', 'project', 'event', 'user_id'];
    fc.assert(
      fc.property(nastyCall, fc.option(name, { nil: undefined }), (call, user) => {
        const made = tryTo(call(), {}, user);
        if (!('body' in made)) return;
        expect(right).not.toContain(wrongField(made.type, JSON.parse(made.body)));
        expect(Buffer.byteLength(made.body)).toBeLessThanOrEqual(MAX_BYTES);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('an identify', () => {
  it('carries what was given', () => {
    fc.assert(
      fc.property(id, json, (user, properties) => {
        const made = make({ type: 'identify', subject: user, given: properties });
        const sent = JSON.parse(JSON.stringify(properties)) as object;
        expect(textOf(made)).toEqual({ project: 'shop', user_id: user, properties: sent });
        expect(made.user).toBe(user);
      }),
    );
  });
});

describe('an event', () => {
  const fields = fc.record(
    {
      channel: name,
      description: text,
      icon: text,
      notify: fc.boolean(),
      tags: json,
      userId: fc.option(id),
    },
    { requiredKeys: [] },
  );

  it('carries what was given, and nothing that was not', () => {
    fc.assert(
      fc.property(name, fields, fc.option(id, { nil: undefined }), (subject, given, known) => {
        const made = make({ subject, given, at: 5 }, {}, known);
        const { channel = 'web', userId, tags = {}, ...rest } = given;
        const who = userId === undefined ? known : (userId ?? undefined);
        const wanted = {
          project: 'shop',
          channel,
          event: subject,
          ...rest,
          tags,
          user_id: who,
          timestamp: '1970-01-01T00:00:00.005Z',
        };
        expect(textOf(made)).toEqual(JSON.parse(JSON.stringify(wanted)));
        expect(made.user).toBe(who);
        expect(made.type).toBe('event');
      }),
    );
  });

  it('carries each key that is no field as a tag, but where `tags` has another value for it', () => {
    const field = /^(channel|description|icon|notify|tags|userId|user_id|timestamp|toJSON)$/;
    const beside = json.map((given) =>
      Object.fromEntries(Object.entries(given).filter(([key]) => !field.test(key))),
    );
    fc.assert(
      fc.property(beside, json, (given, tags) => {
        fc.pre(JSON.stringify([given, tags]).length < MAX_BYTES / 4); // else too large
        const made = make({ given: { ...given, tags } });
        const wanted = JSON.parse(JSON.stringify({ ...given, ...tags })) as object;
        expect(textOf(made)['tags']).toEqual(wanted);
      }),
    );
  });

  it('has the time it was given, to the millisecond', () => {
    const time = fc.date({ min: new Date(0), max: new Date(LATEST), noInvalidDate: true });
    fc.assert(
      fc.property(time, (date) => {
        const made = [
          make({ at: date.getTime() }),
          ...[date, date.toISOString(), date.getTime()].map((timestamp) =>
            make({ given: { timestamp } }),
          ),
        ];
        for (const one of made) expect(textOf(one)['timestamp']).toBe(date.toISOString());
      }),
    );
  });
});

it('counts the bytes of its UTF-8, and is too large by the last one', () => {
  fc.assert(
    fc.property(name, fc.integer({ min: -3, max: 3 }), (subject, more) => {
      const bytes = Buffer.byteLength(make({ subject }, { maxRecordBytes: 60_000 }).body);
      const reason = refusal({ subject }, { maxRecordBytes: bytes + more });
      expect(reason).toBe(more < 0 ? 'too-large' : 'none');
    }),
  );
});

describe('the time of an event', () => {
  it.each([
    [null, '2026-01-31T12:00:00.123Z'], // that of the call
    [0, '1970-01-01T00:00:00.000Z'],
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
  it('is shown all tags in one place, and may change a copy of what is sent', () => {
    const given = { plan: 'pro', user_id: 'user_1', tags: { secret: 1 } };
    const shown: unknown[] = [];
    const beforeSend = (draft: Draft) => {
      shown.push(structuredClone(draft.body));
      const { tags, properties } = draft.body as { tags?: object; properties?: object };
      Object.assign((tags ?? properties)!, { secret: undefined, page: 1 });
      return draft;
    };
    const { tags } = bodyOf({ given }, { beforeSend });
    const { properties } = bodyOf(
      { type: 'identify', subject: 'u', given: given.tags },
      { beforeSend },
    );
    expect(shown).toMatchObject([
      { user_id: 'user_1', tags: { plan: 'pro', secret: 1 } },
      { user_id: 'u', properties: { secret: 1 } },
    ]);
    expect(shown[0]).not.toHaveProperty('plan');
    expect([tags, properties]).toEqual([{ plan: 'pro', page: 1 }, { page: 1 }]);
    expect(given.tags).toEqual({ secret: 1 });
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
