import { describe, expect, it } from 'vitest';
import { captureEvent, captureIdentify } from '../../../src/client/record/call.js';

/** The fields as they will travel. */
const fieldsOf = (fields: unknown): unknown => {
  const made = captureEvent(0, 'name', fields);
  if ('reason' in made) throw new Error(made.message);
  return (made.value as { fields: unknown }).fields;
};

const reasonOf = (fields: unknown): string | undefined => {
  const made = captureEvent(0, 'name', fields);
  return 'reason' in made ? made.reason : undefined;
};

describe('a call', () => {
  it('keeps its time and its arguments', () => {
    expect(captureEvent(5, 'name', { tags: { a: 1 } })).toEqual({
      value: { type: 'event', at: 5, name: 'name', fields: { tags: { a: 1 } } },
    });
    expect(captureIdentify(6, 'u', { plan: 'pro' })).toEqual({
      value: { type: 'identify', at: 6, userId: 'u', properties: { plan: 'pro' } },
    });
  });

  it('tells a missing argument from null', () => {
    expect(fieldsOf(undefined)).toBeUndefined();
    expect(fieldsOf(null)).toBeNull();
  });

  it('is not changed by what the page does later', () => {
    const tags = { list: [1], deep: { a: 1 } };
    const fields = fieldsOf({ tags }) as { tags: typeof tags };
    tags.list.push(2);
    tags.deep.a = 2;
    expect(fields).toEqual({ tags: { list: [1], deep: { a: 1 } } });
  });

  it('leaves the objects of the page as they are', () => {
    const tags = Object.freeze({ a: Object.freeze([1]) });
    expect(fieldsOf({ tags })).toEqual({ tags: { a: [1] } });
  });

  it.each<[string, unknown, unknown]>([
    ['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an invalid Date', new Date(NaN), null],
    ['a Map', new Map([['a', 1]]), {}],
    ['a Set', new Set([1]), {}],
    ['NaN', NaN, null],
    ['Infinity', Infinity, null],
    ['-0', -0, 0],
    ['an emoji', '🎉👨‍👩‍👧', '🎉👨‍👩‍👧'],
    ['half an emoji', '\ud83c', '\ud83c'],
    ['a boxed string', Object('a'), 'a'],
    ['a regular expression', /a/, {}],
    ['an object with toJSON', { toJSON: () => 'x' }, 'x'],
    ['an array with holes', [, 1], [null, 1]],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['a Proxy', new Proxy({ a: 1 }, {}), { a: 1 }],
    [
      'a class instance',
      new (class Point {
        x = 1;
        #y = 2;
        y = () => this.#y;
      })(),
      { x: 1 },
    ],
  ])('takes %s as JSON makes it', (_, value, copy) => {
    expect(fieldsOf({ tags: { value } })).toEqual({ tags: { value: copy } });
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a symbol', Symbol('s')],
    ['a function', () => 1],
  ])('leaves out %s', (_, value) => {
    expect(fieldsOf({ tags: { value, kept: 1 } })).toEqual({ tags: { kept: 1 } });
  });

  it('keeps a key named __proto__ as a key', () => {
    const fields = fieldsOf({ tags: JSON.parse('{"__proto__":{"admin":true}}') as object });
    expect(JSON.stringify(fields)).toBe('{"tags":{"__proto__":{"admin":true}}}');
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const deep = (): unknown => {
    let value: unknown = 1;
    for (let i = 0; i < 20_000; i++) value = [value];
    return value;
  };

  it.each<[string, unknown]>([
    ['a cycle', cyclic],
    ['a BigInt', { n: 1n }],
    [
      'a getter that throws',
      {
        get bad() {
          throw new Error('getter');
        },
      },
    ],
    [
      'a toJSON that throws',
      {
        toJSON: () => {
          throw new Error('toJSON');
        },
      },
    ],
    [
      'a Proxy that throws',
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('trap');
          },
        },
      ),
    ],
    [
      'a getter that throws what has no words',
      {
        get bad() {
          throw Object.create(null);
        },
      },
    ],
  ])('with %s is dropped with a reason, not thrown', (_, value) => {
    expect(reasonOf({ tags: value })).toBe('not-serializable');
    const identify = captureIdentify(0, 'u', value);
    expect('reason' in identify && identify.reason).toBe('not-serializable');
  });

  it.each([true, false])(
    'with tags that cannot be read is dropped (as text at once: %s)',
    (isText) => {
      const tags = {
        get bad() {
          throw new Error('getter');
        },
      };
      expect(captureEvent(0, 'name', { plan: 'pro', tags }, isText)).toEqual({
        reason: 'not-serializable',
        message: 'getter',
      });
    },
  );

  it('nested too deep for the stack does not throw', () => {
    expect(() => captureEvent(0, 'name', { tags: { value: deep() } })).not.toThrow();
  });

  it('with an odd name or user is captured, and judged later', () => {
    expect(captureEvent(0, Symbol('s'), undefined)).toMatchObject({ value: { name: null } });
    expect(captureIdentify(0, 5, undefined)).toMatchObject({ value: { userId: 5 } });
  });
});
