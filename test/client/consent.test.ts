import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { consentTo } from '../../src/client/consent.js';
import { createLocalStorage, lengthOf } from '../support/local-storage.js';

const KEY = 'analytics-outbox shop consent';
let values: Map<string, string>;
/** Characters that localStorage takes in all. */
let room = Infinity;

/** The same site on a new page: what the page knew is gone. */
const nextPage = () => {
  (globalThis as Record<symbol, unknown>)[Symbol.for('analytics-outbox consent')] = undefined;
};

beforeEach(() => {
  nextPage();
  values = new Map();
  room = Infinity;
  vi.stubGlobal('navigator', {});
  vi.stubGlobal(
    'localStorage',
    createLocalStorage(values, () => room),
  );
});
afterEach(() => vi.unstubAllGlobals());

const current = () => consentTo('shop').current(false);

describe('consent', () => {
  it('is granted unless something else is said', () => {
    expect(current()).toBe('granted');
    expect(values.size).toBe(0);
  });

  it('is one fact for all that ask on a page, and for later pages', () => {
    const heard: string[] = [];
    consentTo('shop').follow(() => heard.push(current()));
    consentTo('shop').set('denied');
    expect(heard).toEqual(['denied']);
    nextPage();
    expect(current()).toBe('denied');
  });

  it('is another one for another project', () => {
    consentTo('shop').set('denied');
    expect(consentTo('blog').current(false)).toBe('granted');
  });

  it('follows a denial that another page has stored meanwhile, also after it was granted here', () => {
    consentTo('shop').set('granted');
    const denial = 'refused';
    values.set(KEY, denial);
    expect(current()).toBe('denied');
    consentTo('shop').offer('granted');
    expect(current()).toBe('denied');
    consentTo('shop').set('granted');
    expect(current()).toBe('granted');
  });

  it('does not overwrite a denial of another page that this one has not heard of yet', () => {
    const consent = consentTo('shop');
    consent.remember('analytics-outbox https://in.example.com shop');
    values.set(KEY, 'refused');
    consent.remember('analytics-outbox https://in.example.com shop'); // its database works again
    expect(current()).toBe('denied');
  });

  it('is what the first `init` of a page says, and then what a stricter one says', () => {
    consentTo('shop').offer('granted');
    consentTo('shop').offer('pending');
    expect(current()).toBe('pending');
    consentTo('shop').offer('granted');
    expect(current()).toBe('pending');
    consentTo('shop').set('granted');
    consentTo('shop').offer('pending');
    expect(current()).toBe('granted');
  });

  it('that is denied is remembered where localStorage is full, in the place of a consent', () => {
    consentTo('shop').remember('analytics-outbox relay:/a shop');
    room = lengthOf(values);
    consentTo('shop').set('denied');
    nextPage();
    expect(current()).toBe('denied');
  });

  it('is denied while Global Privacy Control is on and counts, and not remembered', () => {
    vi.stubGlobal('navigator', { globalPrivacyControl: true });
    expect(consentTo('shop').current(true)).toBe('denied');
    expect(current()).toBe('granted');
    expect(values.size).toBe(0);
  });
});
