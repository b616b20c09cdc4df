import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteLength } from '../../src/client/record/byte-length.js';
import {
  captureEvent,
  captureIdentify,
  type Call,
  type Made,
} from '../../src/client/record/call.js';
import { wrongField } from '../../src/interface/validate.js';
import { draftOf } from '../../src/client/record/draft.js';
import { makeRecord } from '../../src/client/record/make-record.js';
import type { DropReason, OutboxRecord } from '../../src/client/types.js';
import { json, makeEach, name, nasty, text } from './nasty.js';

const DEFAULTS = { project: 'p', channel: 'c' };
const MAX_BYTES = 2_000;
const REASONS: readonly DropReason[] = ['invalid-call', 'not-serializable', 'too-large'];
const LATEST = Date.UTC(9999, 0);

/** Nobody listens to hints here. */
const never = () => undefined;

const make = (captured: Made<Call>, user?: string): Made<OutboxRecord> => {
  if ('reason' in captured) return captured;
  const draft = draftOf(captured.value, DEFAULTS, user, never);
  if ('reason' in draft) return draft;
  return makeRecord(draft.value, captured.value.at, 'id', { maxRecordBytes: MAX_BYTES }, never);
};
const made = (captured: Made<Call>, user?: string): OutboxRecord => {
  const result = make(captured, user);
  if ('reason' in result) throw new Error(result.message);
  return result.value;
};
const bodyOf = (record: OutboxRecord) => JSON.parse(record.body) as Record<string, unknown>;

const FIELDS = ['timestamp', 'tags', 'userId', 'channel', 'description', 'icon', 'notify'];

/** A call that becomes text at once, or one that is copied first. */
const nastyCall: fc.Arbitrary<() => Made<Call>> = fc.boolean().chain((isText) =>
  fc.oneof(
    fc.tuple(nasty, nasty).map(
      ([user, properties]) =>
        () =>
          captureIdentify(0, user(), properties(), isText),
    ),
    fc.tuple(nasty, nasty).map(
      ([event, fields]) =>
        () =>
          captureEvent(0, event(), fields(), isText),
    ),
    // Right in all but a few fields.
    fc
      .dictionary(fc.constantFrom(...FIELDS, 'plan', '__proto__'), nasty, { maxKeys: 2 })
      .map((fields) => () => captureEvent(0, 'e', makeEach(fields), isText)),
    nasty.map((timestamp) => () => captureEvent(0, 'e', { timestamp: timestamp() }, isText)),
    nasty.map((properties) => () => captureIdentify(0, 'u', properties(), isText)),
    fc.double().map((at) => () => captureEvent(at, 'e', {}, isText)),
  ),
);

describe('making a record of any call', () => {
  it('never throws, and says why where there is none', () => {
    fc.assert(
      fc.property(nastyCall, fc.option(text, { nil: undefined }), (call, user) => {
        const result = make(call(), user);
        if (!('reason' in result)) return;
        expect(REASONS).toContain(result.reason);
        expect(result.message).not.toBe('');
      }),
      { numRuns: 500 },
    );
  });

  it('makes nothing that the service would refuse, or that is too large', () => {
    fc.assert(
      fc.property(nastyCall, name, (call, user) => {
        const result = make(call(), user);
        if ('reason' in result) return;
        const { type, body } = result.value;

        expect(wrongField(type, JSON.parse(body))).toBeUndefined();
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BYTES);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a call that becomes text at once', () => {
  const textOf = (fields: unknown, isText: boolean) => make(captureEvent(0, 'e', fields, isText));

  it('comes to the same as one that is copied first', () => {
    const keys = fc.constantFrom(...FIELDS, 'user_id', 'plan', '__proto__');
    fc.assert(
      fc.property(fc.dictionary(keys, nasty, { maxKeys: 3 }), (fields) => {
        // With `userId`, `user_id` is not sent, so what is wrong with it shows only where it is copied.
        fc.pre(!('userId' in fields && 'user_id' in fields));
        const [text, copied] = [true, false].map((isText) => {
          const result = textOf(makeEach(fields), isText);
          return 'value' in result ? result.value.body : 'dropped';
        });
        expect(text).toBe(copied);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([true, false])('leaves out what says that it is nothing (at once: %s)', (isText) => {
    const result = textOf({ plan: { toJSON: () => undefined } }, isText);
    expect('value' in result && bodyOf(result.value)).not.toHaveProperty('tags');
  });
});

describe('an identify', () => {
  it('carries what was given', () => {
    fc.assert(
      fc.property(name, json, (user, properties) => {
        const record = made(captureIdentify(0, user, properties));
        const sent = JSON.parse(JSON.stringify({ user, properties })) as object;
        expect(bodyOf(record)).toEqual({
          project: 'p',
          user_id: user,
          ...sent,
          user: undefined,
        });
        expect(record.user).toBe(user);
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
      fc.property(name, fields, fc.option(name, { nil: undefined }), (event, given, user) => {
        const record = made(captureEvent(5, event, given), user);
        const { channel = 'c', userId, ...rest } = given;
        const who = userId === undefined ? user : (userId ?? undefined);
        const wanted = {
          project: 'p',
          channel,
          event,
          ...rest,
          user_id: who,
          timestamp: '1970-01-01T00:00:00.005Z',
        };
        expect(record.body).toBe(JSON.stringify(JSON.parse(record.body)));
        expect(bodyOf(record)).toEqual(JSON.parse(JSON.stringify(wanted)));
        expect(record.user).toBe(who);
        expect(record.type).toBe('event');
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
        const record = made(captureEvent(5, 'e', { ...given, tags }));
        const wanted = JSON.parse(JSON.stringify({ ...given, ...tags })) as object;
        expect(bodyOf(record)['tags']).toEqual(wanted);
      }),
    );
  });

  it('has the time it was given, to the millisecond', () => {
    const time = fc.date({ min: new Date(0), max: new Date(LATEST), noInvalidDate: true });
    fc.assert(
      fc.property(time, fc.constantFrom('date', 'text', 'number', 'call'), (date, form) => {
        const timestamp = { date, text: date.toISOString(), number: date.getTime() };
        const captured =
          form === 'call'
            ? captureEvent(date.getTime(), 'e', {})
            : captureEvent(1, 'e', { timestamp: timestamp[form as 'date'] });
        expect(bodyOf(made(captured))['timestamp']).toBe(date.toISOString());
      }),
    );
  });

  it('is copied at the call', () => {
    fc.assert(
      fc.property(json, (tags) => {
        const given = structuredClone(tags);
        const captured = captureEvent(0, 'e', { tags: given });
        for (const key of Object.keys(given)) delete given[key];
        given['later'] = 1;
        expect(JSON.stringify(bodyOf(made(captured))['tags'])).toBe(JSON.stringify(tags));
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
      fc.property(text, fc.integer({ min: -3, max: 3 }), (event, more) => {
        const draft = { type: 'event', body: { event } } as unknown as Parameters<
          typeof makeRecord
        >[0];
        const bytes = Buffer.byteLength(JSON.stringify({ event }));
        const result = makeRecord(draft, 0, 'id', { maxRecordBytes: bytes + more }, never);
        expect('reason' in result ? result.reason : 'made').toBe(more < 0 ? 'too-large' : 'made');
      }),
    );
  });
});
