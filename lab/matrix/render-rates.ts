import { ENGINE_NAMES } from './engine.js';
import { RATES } from './rate-kinds.js';
import type { Results } from './results.js';
import type { Row } from './row.js';
import { table, TITLES } from './table.js';
import { wilson } from './wilson.js';

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** Survived of all, with the confidence interval. */
export const renderRates = (
  rates: Results['rates'],
  reasons: readonly Pick<Row, 'id' | 'because'>[],
): string => {
  const rows = RATES.flatMap(({ id, what }) =>
    ENGINE_NAMES.flatMap((name) => {
      const rate = rates[id]?.[name];
      if (!rate) return [];
      const { survived, runs, withUnknown, version, date } = rate;
      const [low, high] = wilson(survived, runs);
      return [
        [
          what,
          TITLES[name],
          `${survived} of ${runs}`,
          `${percent(low)} to ${percent(high)}`,
          String(withUnknown),
          `${version}, ${date}`,
        ],
      ];
    }),
  );
  if (rows.length === 0) return 'Not run yet.';
  const heads = [
    'what',
    'engine',
    'survived',
    '95 % (Wilson)',
    'runs with `unknown`',
    'version, date',
  ];
  const wrong = RATES.flatMap(({ id, what }) => {
    const lines = ENGINE_NAMES.flatMap((name) => {
      const texts = rates[id]?.[name]?.wrong ?? [];
      return texts.length > 0 ? [`- ${what}, ${TITLES[name]}: ${texts.join('; ')}.`] : [];
    });
    const because = reasons.find((row) => row.id === id)?.because;
    return because && lines.length > 0 ? [...lines, `  - Why: ${because}`] : lines;
  });
  return [
    'A run makes 20 calls and leaves. It survives if the next visit finds each record stored exactly once; after a kill also if what is missing was counted as `unknown`, and nothing is stored twice.',
    table(heads, rows),
    ...(wrong.length
      ? [`What was wrong in the runs that did not survive:\n\n${wrong.join('\n')}`]
      : []),
    '`npm run rates -- --runs 200`',
  ].join('\n\n');
};
