import { expect, it, test } from 'vitest';
import type { Status } from '../../../src/client/types.js';
import { obstacleOf, restOf, sentenceOf } from '../../../demo/page/words.js';

const NONE = { stored: 0, waiting: 0, dropped: 0, unknown: 0, lost: 0, twice: 0 };

it('says what was called, what is lost, and what is lost without', () => {
  const withIt = { ...NONE, stored: 160 };
  const without = { ...NONE, stored: 102, lost: 58 };
  expect(sentenceOf(160, withIt, without)).toBe('160 called · 0 lost · 58 lost without');
});

it('says what became of the others, and nothing of what there is not', () => {
  expect(restOf(NONE)).toBe('0 stored');
  expect(restOf({ ...NONE, stored: 5, waiting: 2 })).toBe('5 stored · 2 on the way');
  expect(restOf({ ...NONE, stored: 5, twice: 1, dropped: 3, unknown: 4 })).toBe(
    '6 stored · 1 of them twice · 3 dropped · 4 unknown',
  );
});

test.each([
  [{}, {}, undefined],
  [{ consent: 'pending' }, {}, 'Consent is pending: clicks are kept in memory.'],
  [{ consent: 'denied' }, {}, 'Consent is denied: clicks are dropped.'],
  [{ paused: 'setup' }, {}, 'Nothing can be sent. Clicks wait in the outbox.'],
  [{}, { tab: 'left' }, 'The page is left. Its outbox stays on the disk.'],
  [{}, { isReached: false }, 'The demo has ended: run npm start again.'],
] as const)('says what keeps clicks from the service: %j %j', (status, more, words) => {
  const well = { consent: 'granted' } as Status;
  expect(
    obstacleOf({ tab: 'open', isReached: true, ...more, status: { ...well, ...status } as Status }),
  ).toBe(words);
});
