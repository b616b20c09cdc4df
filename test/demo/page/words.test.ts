import { expect, it, test } from 'vitest';
import type { Status } from '../../../src/client/types.js';
import { callCode, lengthOf, reasonOf } from '../../../demo/page/words.js';

const look = (status: Partial<Status>, more: object = {}) =>
  reasonOf({
    ...{ tab: 'open', answers: [], isReached: true, fault: undefined, now: 1_000 },
    status: { consent: 'granted', inFlight: 0, storage: 'indexeddb', ...status } as Status,
    ...more,
  });

test.each([
  [{}, {}, 'The service is well.'],
  [{ inFlight: 1 }, {}, 'Sending.'],
  [{ paused: 'backoff', nextAttempt: 2_400 }, { answers: [200, 503] }, 'The service answers 503.'],
  [{ paused: 'setup', nextAttempt: 9 }, { answers: [401] }, 'The service refuses the token (401).'],
  [{ paused: 'unreachable', nextAttempt: 9 }, { answers: [0] }, 'The service does not answer.'],
  [{ paused: 'offline' }, {}, 'No network. Calls wait in the outbox until it is back.'],
  [{ consent: 'pending' }, {}, 'Consent is pending: calls are held in memory.'],
  [{}, { tab: 'crashed' }, 'The tab has crashed. Its outbox is still on the disk.'],
  [{}, { fault: { hang: true } }, 'The service leaves one request without an answer.'],
] as const)('says why nothing is sent: %j %j', (status, more, words) => {
  expect(look(status, more).words).toBe(words);
});

it('counts down to the next attempt, and never below zero', () => {
  expect(look({ paused: 'backoff', nextAttempt: 2_400 }).nextMs).toBe(1_400);
  expect(look({ paused: 'backoff', nextAttempt: 400 }).nextMs).toBe(0);
  expect([1_400, 12_000, 61_000].map(lengthOf)).toEqual(['1.4 s', '12 s', '1 min 1 s']);
});

it('writes a call as one would write it in a page', () => {
  expect(callCode('event', ['It’s "on"', { tags: { plan: 'pro', 'a b': [1, null] } }])).toBe(
    `analytics.event('It’s "on"', {\n  tags: { plan: 'pro', 'a b': [1, null] },\n})`,
  );
  expect(callCode('identify', ['u', {}])).toBe(`analytics.identify('u', {})`);
  expect(callCode('identify', ['u', { "it's": 1 }])).toBe(
    `analytics.identify('u', { 'it\\'s': 1 })`,
  );
});

it('writes a time that is being typed, and is none yet', () => {
  const timestamp = (text: string) => callCode('event', ['A', { timestamp: new Date(text) }]);
  expect(timestamp('2026-01-31T12:00Z')).toContain(`new Date('2026-01-31T12:00:00.000Z')`);
  expect(timestamp('20266-01-31T12:00')).toContain('new Date(NaN)');
});
