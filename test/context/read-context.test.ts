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

const SESSION = ['session_id', 'session_number'];
const plan = { plan: 'pro' };

describe('the context of a tag', () => {
  it.each<[given: { context?: string; anonymousId?: string }, own: unknown, tags: string[]]>([
    [{ context: 'session' }, undefined, SESSION],
    [{ context: ' session:memory  campaign:persistent ' }, undefined, SESSION],
    [{ context: 'session', anonymousId: 'tab' }, undefined, [...SESSION, 'anonymous_id']],
    [{ anonymousId: '' }, undefined, ['anonymous_id']],
    [{ context: 'own', anonymousId: 'persistent' }, plan, ['plan', 'anonymous_id']],
    [{ context: 'own', anonymousId: 'tab' }, () => plan, ['plan', 'anonymous_id']],
  ])('is made of the parts that %j names, and of the global %j', (given, own, tags) => {
    expect(tagsOf(given, own)).toEqual(tags);
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
