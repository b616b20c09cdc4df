import { describe, expect, it, vi } from 'vitest';
import { captureEvent, captureIdentify } from '../../../src/client/record/call.js';
import { wrongField } from '../../../src/interface/validate.js';
import { draftOf } from '../../../src/client/record/draft.js';
import type { Hint } from '../../../src/client/record/gather-tags.js';

const AT = Date.UTC(2026, 0, 1, 12, 0, 0, 5);
const defaults = { project: 'shop', channel: 'web' };

type Captured = ReturnType<typeof captureEvent>;

const draft = (captured: Captured, user?: string, hint: Hint = () => undefined) => {
  if ('reason' in captured) throw new Error(captured.message);
  return draftOf(captured.value, defaults, user, hint);
};

/** The body as it goes on the wire. */
const bodyOf = (captured: Captured, user?: string): unknown => {
  const made = draft(captured, user);
  if ('reason' in made) throw new Error(made.message);
  return JSON.parse(JSON.stringify(made.value.body));
};

const event = (name: unknown, fields?: unknown, user?: string) =>
  bodyOf(captureEvent(AT, name, fields), user);

const dropOf = (captured: Captured, user?: string) => {
  const made = draft(captured, user);
  return 'reason' in made ? made : undefined;
};

describe('an event', () => {
  it('has only what was given, and the time of the call', () => {
    expect(event('Signed Up')).toEqual({
      project: 'shop',
      channel: 'web',
      event: 'Signed Up',
      timestamp: '2026-01-01T12:00:00.005Z',
    });
  });

  it('has every field by its name on the wire', () => {
    const body = event('Signed Up', {
      channel: 'growth',
      description: 'd',
      icon: '🎉',
      notify: true,
      tags: { plan: 'pro', deep: [null] },
      userId: 'u',
      timestamp: new Date(0),
    });
    expect(body).toEqual({
      project: 'shop',
      channel: 'growth',
      event: 'Signed Up',
      description: 'd',
      icon: '🎉',
      notify: true,
      tags: { plan: 'pro', deep: [null] },
      user_id: 'u',
      timestamp: '1970-01-01T00:00:00.000Z',
    });
    expect(wrongField('event', body)).toBeUndefined();
  });

  it('has the identified user', () => {
    expect(event('e', {}, 'u')).toMatchObject({ user_id: 'u' });
  });

  it('has another user where one is given', () => {
    expect(event('e', { userId: 'v' }, 'u')).toMatchObject({ user_id: 'v' });
  });

  it('has no user where null is given', () => {
    expect(event('e', { userId: null }, 'u')).not.toHaveProperty('user_id');
  });

  it('takes fields set to undefined for not given', () => {
    expect(event('e', { notify: undefined, tags: undefined, channel: undefined })).toEqual({
      project: 'shop',
      channel: 'web',
      event: 'e',
      timestamp: '2026-01-01T12:00:00.005Z',
    });
  });

  it('sends false and empty values that were given', () => {
    expect(event('e', { notify: false, tags: {}, description: '', icon: '' })).toMatchObject({
      notify: false,
      tags: {},
      description: '',
      icon: '',
    });
  });

  it('takes a key that is no field for a tag', () => {
    expect(event('e', { plan: 'pro', price: 3, gone: undefined, none: null })).toEqual({
      ...(event('e') as object),
      tags: { plan: 'pro', price: 3, none: null },
    });
  });

  it('takes the tag in `tags` where one is given twice', () => {
    expect(event('e', { plan: 'free', price: 3, tags: { plan: 'pro', seats: 1 } })).toMatchObject({
      tags: { plan: 'pro', price: 3, seats: 1 },
    });
  });

  it('takes names of the service that are no fields of the call for tags', () => {
    expect(event('e', { project: 'other', event: 'x' })).toEqual({
      ...(event('e') as object),
      tags: { project: 'other', event: 'x' },
    });
  });

  it('knows the user by the name that the service has for it', () => {
    expect(event('e', { user_id: 'v' }, 'u')).toEqual(event('e', { userId: 'v' }));
    expect(event('e', { user_id: null }, 'u')).toEqual(event('e'));
    expect(event('e', { userId: 'v', user_id: 'w' })).toEqual(event('e', { userId: 'v' }));
    expect(event('e', { userId: null, user_id: 'w' }, 'u')).toEqual(event('e'));
  });

  it.each([
    ['2026-02-03T04:05:06Z', '2026-02-03T04:05:06.000Z'],
    ['2026-02-03T04:05:06.789+02:00', '2026-02-03T02:05:06.789Z'],
    ['2026-02-03', '2026-02-03T00:00:00.000Z'],
  ])('takes %s as its time', (timestamp, wire) => {
    expect(event('e', { timestamp })).toMatchObject({ timestamp: wire });
  });

  it.each<[string, unknown]>([
    ['a text that is no time', 'soon'],
    ['an empty text', ''],
    ['an invalid Date', new Date(NaN)],
    ['null', null],
    ['true', true],
    ['an object', {}],
    ['an object that Date cannot read', { toString: 1 }],
    ['a year the interface cannot say', '+012026-01-01T00:00:00.000Z'],
  ])('is dropped with %s as its time', (_, timestamp) => {
    expect(dropOf(captureEvent(AT, 'e', { timestamp }))).toMatchObject({
      reason: 'invalid-call',
      message: expect.stringContaining('timestamp') as string,
    });
  });

  it.each<[string, unknown, unknown]>([
    ['name', '', {}],
    ['name', undefined, {}],
    ['name', 5, {}],
    ['name', null, {}],
    ['name', {}, {}],
    ['channel', 'e', { channel: '' }],
    ['channel', 'e', { channel: 5 }],
    ['channel', 'e', { channel: null }],
    ['description', 'e', { description: 5 }],
    ['description', 'e', { description: null }],
    ['icon', 'e', { icon: {} }],
    ['notify', 'e', { notify: 'true' }],
    ['notify', 'e', { notify: 1 }],
    ['tags', 'e', { tags: [] }],
    ['tags', 'e', { tags: 'a' }],
    ['tags', 'e', { tags: null }],
    ['userId', 'e', { userId: '' }],
    ['userId', 'e', { userId: 'undefined' }],
    ['userId', 'e', { user_id: '[object Object]' }],
    ['userId', 'e', { userId: 5 }],
    ['userId', 'e', { user_id: '' }],
    ['userId', 'e', { user_id: 5 }],
    ['tags', 'e', { tags: [], plan: 'pro' }],
    ['fields', 'e', 'text'],
    ['fields', 'e', []],
    ['fields', 'e', null],
  ])('is dropped when its %s is wrong (%j, %j)', (field, name, fields) => {
    const drop = dropOf(captureEvent(AT, name, fields));
    expect(drop?.reason).toBe('invalid-call');
    expect(drop?.message).toContain(`\`${field}\``);
  });

  it('is not disturbed by fields named like properties of objects', () => {
    const json = '{"__proto__":{"notify":"x"},"constructor":1}';
    const { tags, ...rest } = event('e', JSON.parse(json)) as { tags: object };
    expect(JSON.stringify(tags)).toBe(json);
    expect(rest).toEqual(event('e'));
  });
});

describe('a hint', () => {
  const hintsOf = (fields: object, user?: string): string[] => {
    const hint = vi.fn<Hint>();
    draft(captureEvent(AT, 'e', fields), user, hint);
    return hint.mock.calls.map(([message]) => message);
  };

  it.each([
    ['descripton', 'description'],
    ['tag', 'tags'],
    ['notfy', 'notify'],
    ['notifiy', 'notify'],
    ['time_stamp', 'timestamp'],
    ['timestmap', 'timestamp'],
    ['chanel', 'channel'],
    ['icn', 'icon'],
    ['userid', 'userId'],
    ['UserID', 'userId'],
  ])('names `%s`, which looks like `%s`, and the field', (given, field) => {
    const hints = hintsOf({ [given]: 'x' });
    expect(hints).toHaveLength(1);
    expect(hints[0]).toContain(`\`${given}\` is a tag`);
    expect(hints[0]).toContain(`did you mean \`${field}\`?`);
    expect(event('e', { [given]: 'x' })).toMatchObject({ tags: { [given]: 'x' } });
  });

  it('says that two users were given', () => {
    expect(hintsOf({ userId: 'v', user_id: 'w' })).toEqual([
      '`userId` and `user_id` differ: `userId` was taken',
    ]);
    expect(hintsOf({ userId: null, user_id: 'w' })).toHaveLength(1);
    expect(hintsOf({ userId: 'v', user_id: 'v' }, 'u')).toEqual([]);
  });

  it('says that a time looks like seconds', () => {
    expect(hintsOf({ timestamp: AT / 1_000 })).toEqual([expect.stringContaining('seconds')]);
    expect(hintsOf({ timestamp: AT })).toEqual([]);
    expect(hintsOf({ timestamp: new Date(0) })).toEqual([]);
    expect(hintsOf({ timestamp: '2026' })).toEqual([]);
  });

  it.each([
    ...['plan', 'price', 'total', 'page', 'path', 'tabs', 'bags', 'tax', 'coin', 'time', 'note'],
    ...['user', 'used', 'users', 'username', 'notification', 'change', 'panel', 'status', 'name'],
    ...['category', 'value', 'label', 'method', 'source', 'position', 'duration', '', '日本'],
  ])('is not given where `%s` is a tag', (key) => {
    expect(hintsOf({ [key]: 'x' })).toEqual([]);
  });

  it('is not given for a tag in `tags`', () => {
    expect(hintsOf({ tags: { descripton: 'x', tag: 1 } })).toEqual([]);
  });
});

describe('an identify', () => {
  it('has the project, the user and the properties', () => {
    const body = bodyOf(captureIdentify(AT, 'u', { plan: 'pro' }));
    expect(body).toEqual({ project: 'shop', user_id: 'u', properties: { plan: 'pro' } });
    expect(wrongField('identify', body)).toBeUndefined();
  });

  it.each([undefined, null])('has no properties where %s is given', (properties) => {
    expect(bodyOf(captureIdentify(AT, 'u', properties))).toEqual({
      project: 'shop',
      user_id: 'u',
      properties: {},
    });
  });

  it('is of the user it names, not of the one before', () => {
    expect(bodyOf(captureIdentify(AT, 'v', {}), 'u')).toMatchObject({ user_id: 'v' });
  });

  it.each<[string, unknown, unknown]>([
    ['userId', '', {}],
    ['userId', undefined, {}],
    ['userId', null, {}],
    ['userId', 5, {}],
    ['properties', 'u', []],
    ['properties', 'u', 'text'],
    ['properties', 'u', 5],
  ])('is dropped when its %s is wrong (%j, %j)', (field, userId, properties) => {
    const drop = dropOf(captureIdentify(AT, userId, properties));
    expect(drop?.reason).toBe('invalid-call');
    expect(drop?.message).toContain(`\`${field}\``);
  });
});
