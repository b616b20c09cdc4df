import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveOptions } from '../../src/client/options.js';
import { byteLength } from '../../src/client/page.js';
import { recordOf, type Call, type Refusal } from '../../src/client/record.js';
import type { OutboxRecord } from '../../src/client/types.js';
import { wrongField } from '../../src/interface/validate.js';
import { json, makeEach, name, nasty, text } from '../support/nasty.js';

const MAX_BYTES = 2_000;
const LATEST = Date.UTC(9999, 0);

const make = (call: Partial<Call>, user?: string, maxRecordBytes = MAX_BYTES): OutboxRecord => {
  const options = { baseUrl: 'https://in.test', token: 't', project: 'p', channel: 'c' };
  const settings = resolveOptions({ ...options, maxRecordBytes }, 'https://site.test/', true);
  return recordOf(
    { type: 'event', at: 0, subject: 'e', given: undefined, ...call },
    settings,
    user,
  );
};
/** The record of a call, or what the call throws. */
const tryTo = (...args: Parameters<typeof make>): OutboxRecord | Refusal => {
  try {
    return make(...args);
  } catch (error) {
    return error as Refusal;
  }
};
const bodyOf = (record: OutboxRecord) => JSON.parse(record.body) as Record<string, unknown>;

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
        const made = tryTo(call(), user);
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
      fc.property(name, json, (user, properties) => {
        const made = make({ type: 'identify', subject: user, given: properties });
        const sent = JSON.parse(JSON.stringify(properties)) as object;
        expect(bodyOf(made)).toEqual({ project: 'p', user_id: user, properties: sent });
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
      userId: fc.option(name),
    },
    { requiredKeys: [] },
  );

  it('carries what was given, and nothing that was not', () => {
    fc.assert(
      fc.property(name, fields, fc.option(name, { nil: undefined }), (subject, given, user) => {
        const made = make({ subject, given, at: 5 }, user);
        const { channel = 'c', userId, tags = {}, ...rest } = given;
        const who = userId === undefined ? user : (userId ?? undefined);
        const wanted = {
          project: 'p',
          channel,
          event: subject,
          ...rest,
          tags,
          user_id: who,
          timestamp: '1970-01-01T00:00:00.005Z',
        };
        expect(bodyOf(made)).toEqual(JSON.parse(JSON.stringify(wanted)));
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
        expect(bodyOf(made)['tags']).toEqual(wanted);
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
        for (const one of made) expect(bodyOf(one)['timestamp']).toBe(date.toISOString());
      }),
    );
  });
});

describe('the bytes of a text', () => {
  it('are those of its UTF-8', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(byteLength(value)).toBe(Buffer.byteLength(value));
      }),
    );
  });

  it('decide, to the byte, what is too large', () => {
    fc.assert(
      fc.property(name, fc.integer({ min: -3, max: 3 }), (subject, more) => {
        const bytes = Buffer.byteLength(make({ subject }, undefined, 1e9).body);
        const made = tryTo({ subject }, undefined, bytes + more);
        expect('reason' in made ? made.reason : 'made').toBe(more < 0 ? 'too-large' : 'made');
      }),
    );
  });
});
