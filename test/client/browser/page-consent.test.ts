import { beforeEach, describe, expect, it, vi } from 'vitest';
import { joinConsent, say } from '../../../src/client/browser/page-consent.js';
import type { Consent } from '../../../src/client/types.js';

beforeEach(() => {
  delete (globalThis as Record<symbol, unknown>)[Symbol.for('analytics-outbox consent')];
});

const join = ({
  project = 'p',
  said = undefined as ReturnType<typeof say> | undefined,
  option = undefined as Consent | undefined,
  remembered = 'granted' as Consent,
} = {}) => {
  const heard: Consent[] = [];
  const page = joinConsent(
    project,
    said,
    option,
    () => remembered,
    (consent) => heard.push(consent),
  );
  return { ...page, heard };
};

describe('consent of a page', () => {
  it('is what was remembered, until somebody asks for it', () => {
    const one = join({ remembered: 'denied' });
    expect(one.current()).toBe('denied');
    expect(one.isGiven()).toBe(false);
    expect(join().current()).toBe('denied');
    one.set(say('granted'));
    expect(one.isGiven()).toBe(true);
    expect(join({ remembered: 'denied' }).current()).toBe('granted');
  });

  it('reads nothing where an option is given', () => {
    const remembered = vi.fn(() => 'denied' as const);
    const page = joinConsent('p', undefined, 'pending', remembered, () => undefined);
    expect(page.current()).toBe('pending');
    expect(page.isGiven()).toBe(true);
    expect(remembered).not.toHaveBeenCalled();
  });

  it('tells all instances, and those made later', () => {
    const [one, other] = [join(), join()];
    one.set(say('denied'));
    expect([one.heard, other.heard]).toEqual([['denied'], ['denied']]);
    expect(join().current()).toBe('denied');
  });

  it('follows the strictest option until `setConsent` says something', () => {
    const one = join();
    expect(join({ option: 'pending' }).current()).toBe('pending');
    expect(one.heard).toEqual(['pending']);
    expect(join({ option: 'granted' }).current()).toBe('pending');
    one.set(say('granted'));
    expect(join({ option: 'denied' }).current()).toBe('granted');
  });

  it('is what was said last, also by an instance that had no destination then', () => {
    const early = say('granted');
    const one = join();
    one.set(say('denied'));
    expect(join({ said: early }).current()).toBe('denied');
    expect(join({ said: say('granted') }).current()).toBe('granted');
    expect(one.heard).toEqual(['denied', 'granted']);
  });

  it('is another one for another project', () => {
    join().set(say('denied'));
    expect(join({ project: 'other' }).current()).toBe('granted');
  });
});
