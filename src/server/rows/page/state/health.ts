import { inDigits } from '../../../../show/times.js';
import type { Health, ProjectHealth } from '../../../health/health.js';

/** What the service says of itself: of all projects, or to a token of one. */
export type HealthWord = ProjectHealth & Partial<Pick<Health, 'refused' | 'targets' | 'storing'>>;

export const isStoring = (health: HealthWord | undefined): boolean =>
  health?.storing.state !== 'failing';

/** What to do, by the words of the database. */
const TO_DO: readonly (readonly [words: RegExp, fix: string])[] = [
  [/disk is full/, 'Free room on that disk, or have old rows deleted by RETENTION_DAYS.'],
  [/has locked/, 'End the other program that has the file open, such as a backup.'],
  [/may not be written/, 'Give the user of the server the right to write there.'],
  [/deleted or replaced|cannot be opened/, 'Put the file back, and start the server again.'],
];
const ELSE = 'Look at the database and at the log of the server.';

/** What an operator can do about this problem. */
export const fixOf = (problem: string | undefined): string =>
  problem === undefined
    ? 'Whoever runs the server can see why.'
    : (TO_DO.find(([words]) => words.test(problem))?.[1] ?? ELSE);

const GIGA = 1e9;
/** `12 of 250 GB` */
export const roomInWords = ({ free, size }: { free: number; size: number }): string => {
  const [unit, name] = size < GIGA ? [1e6, 'MB'] : [GIGA, 'GB'];
  const [left, all] = [free, size].map((bytes) => {
    const amount = bytes / unit;
    return inDigits(amount < 10 ? Math.round(amount * 10) / 10 : Math.round(amount));
  });
  return `${left} of ${all} ${name} free`;
};

/** `3 a second`, `12 a minute`, `4 an hour` */
export const hourlyInWords = (rows: number): string => {
  if (rows >= 7_200) return `${inDigits(Math.round(rows / 3_600))} a second`;
  if (rows >= 120) return `${inDigits(Math.round(rows / 60))} a minute`;
  return `${inDigits(rows)} an hour`;
};
