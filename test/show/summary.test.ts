import { expect, it } from 'vitest';
import { summaryOf } from '../../src/show/summary.js';
import type { Row } from '../../src/server/store/port.js';

const row = (tags: unknown, icon = '📚'): Row =>
  ({
    ...{ seq: 1, type: 'event', project: 'p', event: 'A' },
    body: { project: 'p', channel: 'c', event: 'A', icon, tags },
  }) as unknown as Row;

it('shows values as they are read, and not more than a line of them', () => {
  const { chips } = summaryOf(
    row({ text: 'plain', n: 1, o: { a: [null] }, long: 'x'.repeat(60_000) }),
  );
  expect(chips.slice(0, 3).map(({ text }) => text)).toEqual(['plain', '1', '{"a":[null]}']);
  expect(chips[3]!.text.length).toBeLessThan(100);
});

it.each(['📚', '👨‍👩‍👧‍👦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🇩🇪', '1️⃣', '$', 'A', '★'])('shows %s as an icon', (icon) =>
  expect(summaryOf(row({}, icon)).icon).toBe(icon),
);

it.each(['money-bag', ':moneybag:', '<b>', 'ok', 'كتاب', 'i'.repeat(1_000), '.'.repeat(1_000), ''])(
  'shows no icon where it is a word, which only the open row has room for: %s',
  (icon) => expect(summaryOf(row({}, icon)).icon).toBe(''),
);

it('counts what is left out', () => {
  const tags = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, at]));
  const { chips, more } = summaryOf(row(tags));
  expect(chips.length + more).toBe(60);
  expect(summaryOf(row(undefined))).toMatchObject({ chips: [], more: 0 });
});
