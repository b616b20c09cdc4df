import { afterEach, expect, it, vi } from 'vitest';
import { consentTo } from '../../src/client/consent.js';
import { createLocalStorage } from '../support/local-storage.js';

afterEach(() => vi.unstubAllGlobals());

it('does not overwrite a denial of another page that this one has not heard of yet', () => {
  const values = new Map<string, string>();
  vi.stubGlobal('localStorage', createLocalStorage(values));
  const consent = consentTo('shop');
  consent.remember('analytics-outbox https://in.example.com shop');
  values.set('analytics-outbox shop consent', 'refused');
  consent.remember('analytics-outbox https://in.example.com shop'); // its database works again
  expect(consent.current(false)).toBe('denied');
});
