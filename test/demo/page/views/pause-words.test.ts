import { expect, it } from 'vitest';
import { consentWords, healedWords, pauseWords } from '../../../../demo/page/views/pause-words';

const status = {
  consent: 'granted' as const,
  paused: undefined,
  nextAttempt: undefined,
};

it('says nothing of a page that sends', () => {
  expect(pauseWords(status, 0)).toBeUndefined();
  expect(consentWords(status)).toBeUndefined();
});

it('says when a page that backs off tries again, healed service or not', () => {
  const backoff = { ...status, paused: 'backoff' as const, nextAttempt: 5_000 };
  expect(pauseWords(backoff, 1_000)).toBe('The page still backs off and tries again in 4.0 s.');
  expect(healedWords(backoff, 1_000, 3)).toMatch(/well again. The page still backs off/);
});

it('says that what waits is sent only where it is', () => {
  expect(healedWords(status, 0, 3)).toMatch(/What waits is sent now/);
  expect(healedWords(status, 0, 0)).toMatch(/Nothing waits/);
  const offline = { ...status, paused: 'offline' as const };
  expect(healedWords(offline, 0, 3)).toMatch(/offline/);
});

it('says what consent does to calls', () => {
  const paused = 'consent' as const;
  expect(pauseWords({ ...status, paused, consent: 'denied' }, 0)).toMatch(/dropped/);
  expect(pauseWords({ ...status, paused, consent: 'pending' }, 0)).toMatch(/held in memory/);
});
