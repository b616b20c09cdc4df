import { expect, it } from 'vitest';
import { addSeen, NOTHING_SEEN } from '../../../src/server/rows/page/state/seen.js';

it('gathers names to choose from, and stays the same object while there is no new one', () => {
  const rows = [{ project: 'shop', channel: 'web', event: 'B' }, { project: 'docs' }];
  const seen = addSeen(NOTHING_SEEN, rows);
  expect(seen).toEqual({
    projects: ['docs', 'shop'],
    channels: ['web'],
    events: ['B'],
    hasBrowsers: false,
  });
  expect(addSeen(seen, rows)).toBe(seen);
  expect(addSeen(seen, [{ project: 'shop', event: 'A' }]).events).toEqual(['A', 'B']);
});

it('does not grow with what strangers send', () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => ({ project: 'p', event: `event ${at}` }));
  expect(addSeen(NOTHING_SEEN, rows).events).toHaveLength(200);
});
