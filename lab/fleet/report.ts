import { readFile, writeFile } from 'node:fs/promises';
import type { Figures } from './measure.js';

export interface Row extends Figures {
  scenario: string;
  policy: string;
}

const times = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)}×`;
const percent = (value: number): string => `${(value * 100).toFixed(1)} %`;

const HEAD = [
  'trouble',
  'policy',
  'peak during',
  'peak after',
  'drained after',
  'wasted',
  'stored twice',
];

const cellsOf = (row: Row, isFirst: boolean): string[] => [
  isFirst ? row.scenario : '',
  row.policy,
  times(row.peakDuring),
  times(row.peakAfter),
  row.drainS === undefined ? 'not in time' : `${row.drainS} s`,
  percent(row.wasted),
  percent(row.repeated),
];

/** A table in Markdown, in columns that stand under each other. */
export const tableOf = (rows: readonly Row[]): string => {
  const cells = rows.map((row, i) => cellsOf(row, row.scenario !== rows[i - 1]?.scenario));
  const widths = HEAD.map((head, i) =>
    Math.max(head.length, ...cells.map((row) => row[i]!.length)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  return [line(HEAD), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join(
    '\n',
  );
};

/** Puts a text between the two marks of a page. */
export const putInto = async (file: string, text: string): Promise<void> => {
  const [begin, end] = ['<!-- figures -->', '<!-- end of figures -->'];
  const page = await readFile(file, 'utf8');
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no place for the figures`);
  await writeFile(file, `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`);
};
