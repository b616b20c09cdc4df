import { expect, it } from 'vitest';
import { hueOf, summaryOf } from '../../../src/server/rows/page/text/summary.js';
import type { Row } from '../../../src/server/store/port.js';

const row = (tags: unknown): Row =>
  ({
    ...{ seq: 1, type: 'event', project: 'p', event: 'A' },
    body: { project: 'p', channel: 'c', event: 'A', icon: 'i'.repeat(1000), tags },
  }) as unknown as Row;

it('shows values as they are read, and not more than a line of them', () => {
  const { chips, icon } = summaryOf(
    row({ text: 'plain', n: 1, o: { a: [null] }, long: 'x'.repeat(60_000) }),
  );
  expect(chips.slice(0, 3).map(({ text }) => text)).toEqual(['plain', '1', '{"a":[null]}']);
  expect(chips[3]!.text.length).toBeLessThan(100);
  expect(icon.length).toBeLessThan(10);
});

it('counts what is left out', () => {
  const tags = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, at]));
  const { chips, more } = summaryOf(row(tags));
  expect(chips.length + more).toBe(60);
  expect(summaryOf(row(undefined))).toMatchObject({ chips: [], more: 0 });
});

it('gives a user one colour', () => {
  expect(hueOf('user_42')).toBe(hueOf('user_42'));
  expect(new Set(Array.from({ length: 100 }, (_, at) => hueOf(`user_${at}`))).size).toBeGreaterThan(
    6,
  );
});
