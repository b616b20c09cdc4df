import { ENGINE_NAMES } from './engine.js';
import { RATES } from './rate-kinds.js';
import type { Results } from './results.js';
import { table, TITLES } from './table.js';
import { wilson } from './wilson.js';

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** Survived of all, with the confidence interval. */
export const renderRates = (rates: Results['rates']): string => {
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
  const wrong = RATES.flatMap(({ id, what }) =>
    ENGINE_NAMES.flatMap((name) =>
      (rates[id]?.[name]?.wrong ?? []).map((text) => `- ${what}, ${TITLES[name]}: ${text}`),
    ),
  );
  return [
    'A run makes 20 calls and leaves. It survives if the next visit finds each record stored exactly once; after a kill also if what is missing was counted as `unknown`, and nothing is stored twice.',
    table(heads, rows),
    ...(wrong.length
      ? [`What was wrong in the runs that did not survive:\n\n${wrong.join('\n')}`]
      : []),
    '`npm run rates -- --runs 200`',
  ].join('\n\n');
};
