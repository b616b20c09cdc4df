import { describe, expect, it } from 'vitest';
import { readContext } from '../../src/context/read-context.js';
import type { Instance } from '../../src/context/types.js';

const instance = {
  on: () => () => undefined,
  status: () => ({ storage: 'none' }),
  event: () => undefined,
} as unknown as Instance;

/** The names of the tags that a tag with these attributes gives to events. */
const tagsOf = (given: { context?: string; anonymousId?: string }, context?: unknown) => {
  const { context: made } = readContext(instance, given, { context });
  return typeof made === 'function' ? Object.keys((made as () => object)()) : made;
};

describe('the context of a tag', () => {
  it('is made of the parts that it names', () => {
    expect(tagsOf({ context: 'session' })).toEqual(['session_id', 'session_number']);
    expect(tagsOf({ context: ' session:memory  campaign:persistent ' })).toEqual([
      'session_id',
      'session_number',
    ]);
    expect(tagsOf({ context: 'session', anonymousId: 'tab' })).toEqual([
      'session_id',
      'session_number',
      'anonymous_id',
    ]);
  });

  it('has an anonymous id beside the tags of a global', () => {
    const plan = { plan: 'pro' };
    expect(tagsOf({ anonymousId: '' })).toEqual(['anonymous_id']);
    expect(tagsOf({ context: 'own', anonymousId: 'persistent' }, plan)).toEqual([
      'plan',
      'anonymous_id',
    ]);
    expect(tagsOf({ context: 'own', anonymousId: 'tab' }, () => plan)).toEqual([
      'plan',
      'anonymous_id',
    ]);
  });

  it('is left to `init` where it names neither', () => {
    for (const text of ['pgae', 'session:ever', 'session own', 'toString']) {
      expect(tagsOf({ context: text, anonymousId: 'tab' }, text)).toBe(text);
    }
    expect(readContext(instance, {}, { project: 'p' } as { context?: unknown })).toEqual({
      project: 'p',
    });
  });
});
