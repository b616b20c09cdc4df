import { beforeEach, describe, expect, it, vi } from 'vitest';
import { byteLength } from '../../../src/client/record/byte-length.js';
import { makeRecord } from '../../../src/client/record/make-record.js';
import type { Draft } from '../../../src/client/types.js';

const draft = (parts: object = {}): Draft => ({
  type: 'event',
  body: {
    project: 'p',
    channel: 'c',
    event: 'e',
    timestamp: '2026-01-01T00:00:00.000Z',
    ...parts,
  },
});

const hint = vi.fn();

type BeforeSend = (draft: Draft) => Draft | null;

const make = (given = draft(), beforeSend?: unknown, maxRecordBytes = 60_000) =>
  makeRecord(given, 5, 'id', { beforeSend: beforeSend as BeforeSend, maxRecordBytes }, hint);

const recordOf = (made: ReturnType<typeof make>) => {
  if ('reason' in made) throw new Error(`${made.reason}: ${made.message}`);
  return made.value;
};

beforeEach(() => hint.mockClear());

describe('a record', () => {
  it('carries the text that goes on the wire', () => {
    expect(recordOf(make())).toEqual({
      id: 'id',
      type: 'event',
      body: JSON.stringify(draft().body),
      at: 5,
      attempts: 0,
    });
  });

  it('knows its user', () => {
    expect(recordOf(make(draft({ user_id: 'u' }))).user).toBe('u');
    const identify: Draft = {
      type: 'identify',
      body: { project: 'p', user_id: 'v', properties: {} },
    };
    expect(recordOf(make(identify)).user).toBe('v');
  });

  it('may have as many bytes as are allowed, and no more', () => {
    const body = JSON.stringify(draft().body);
    expect(recordOf(make(draft(), undefined, body.length)).body).toBe(body);
    expect(make(draft(), undefined, body.length - 1)).toMatchObject({ reason: 'too-large' });
  });

  it('counts bytes of UTF-8', () => {
    const emoji = draft({ description: '🎉'.repeat(1_000) });
    const letters = JSON.stringify(emoji.body).length;
    expect(make(emoji, undefined, letters + 1_999)).toMatchObject({ reason: 'too-large' });
    expect(make(emoji, undefined, letters + 2_000)).toHaveProperty('value');
  });

  it('says how much too large it is', () => {
    const made = make(draft({ description: 'x'.repeat(70_000) }));
    expect('message' in made && made.message).toMatch(/70\d+.*60000/);
  });

  it('with half an emoji can be sent', () => {
    const { body } = recordOf(make(draft({ description: '\ud83c' })));
    expect(body).toContain('\\ud83c');
    expect(byteLength(body)).toBe(body.length);
  });
});

describe('beforeSend', () => {
  it('may change the record', () => {
    const made = make(draft({ user_id: 'u' }), (given: Draft) => {
      given.body.user_id = 'hidden';
      return given;
    });
    expect(recordOf(made).body).toContain('"user_id":"hidden"');
    expect(recordOf(made).user).toBe('hidden');
  });

  it('may give another', () => {
    const made = make(draft(), ({ type, body }: Draft) => ({
      type,
      body: { ...body, event: 'other' },
    }));
    expect(recordOf(made).body).toContain('"event":"other"');
  });

  it('may take the user away', () => {
    const made = make(draft({ user_id: 'u' }), (given: Draft) => {
      delete (given.body as { user_id?: string }).user_id;
      return given;
    });
    expect(recordOf(made)).not.toHaveProperty('user');
  });

  it('that adds keys beside the fields has them sent as tags', () => {
    const made = make(draft({ tags: { plan: 'pro' } }), (given: Draft) => {
      Object.assign(given.body, { plan: 'free', page: 1, notfy: true });
      return given;
    });
    expect(JSON.parse(recordOf(made).body)).toEqual(
      draft({ tags: { plan: 'pro', page: 1, notfy: true } }).body,
    );
    expect(hint.mock.calls).toEqual([[expect.stringContaining('`notify`')]]);
  });

  it('that knows the user by another name than the service is told so', () => {
    make(draft(), (given: Draft) => Object.assign(given, { body: { ...given.body, userId: 'u' } }));
    expect(hint.mock.calls).toEqual([[expect.stringContaining('`user_id`')]]);
  });

  it('that adds keys to an identify has them sent as properties', () => {
    const body = { project: 'p', user_id: 'u', properties: { plan: 'pro' } };
    const made = make({ type: 'identify', body }, ({ type }: Draft) => ({
      type,
      body: { ...body, plan: 'free', tag: 1 },
    }));
    expect(JSON.parse(recordOf(made).body)).toEqual({
      ...body,
      properties: { plan: 'pro', tag: 1 },
    });
    expect(hint).not.toHaveBeenCalled();
  });

  it('that adds a key named __proto__ has it sent as a tag', () => {
    const made = make(draft(), ({ type, body }: Draft) => ({
      type,
      body: JSON.parse(JSON.stringify(body).replace('}', ',"__proto__":{"a":1}}')) as object,
    }));
    expect(recordOf(made).body).toContain('"tags":{"__proto__":{"a":1}}');
    expect(recordOf(made).body.match(/__proto__/g)).toHaveLength(1);
  });

  it('drops the record with null', () => {
    expect(make(draft(), () => null)).toMatchObject({ reason: 'before-send' });
  });

  it('that throws drops the record: it is not leaked', () => {
    const made = make(draft(), () => {
      throw new Error('oops');
    });
    expect(made).toEqual({ reason: 'before-send-error', message: 'oops' });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'draft'],
    ['a number', 5],
    ['true', true],
    ['an empty object', {}],
    ['a promise', Promise.resolve(draft())],
    ['an array', []],
    ['a record without a type', { body: draft().body }],
    ['a record of another type', { type: 'page', body: draft().body }],
    ['a record whose body is a text', { type: 'event', body: '{}' }],
  ])('that returns %s drops the record', (_, value) => {
    expect(make(draft(), () => value)).toMatchObject({ reason: 'before-send-error' });
  });

  it.each<[string, object]>([
    ['no project', { project: undefined }],
    ['an empty name', { event: '' }],
    ['a user that is a number', { user_id: 5 }],
    ['tags that are a list', { tags: [] }],
  ])('that leaves %s has the record dropped', (_, change) => {
    const made = make(draft(), ({ type, body }: Draft) => ({ type, body: { ...body, ...change } }));
    expect(made).toHaveProperty('reason');
  });

  it('that puts a cycle in has the record dropped', () => {
    const made = make(draft(), (given: Draft) => {
      const tags: Record<string, unknown> = {};
      tags.self = tags;
      return { ...given, body: { ...given.body, tags } };
    });
    expect(made).toMatchObject({ reason: 'not-serializable' });
  });

  it('that puts a toJSON of nothing in has the record dropped', () => {
    const made = make(draft(), (given: Draft) => ({
      ...given,
      body: { ...given.body, toJSON: () => undefined },
    }));
    expect(made).toHaveProperty('reason');
  });
});

describe('bytes', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['é', 2],
    ['€', 3],
    ['🎉', 4],
  ])('of %j are %i', (text, bytes) => {
    expect(byteLength(text)).toBe(bytes);
  });
});
