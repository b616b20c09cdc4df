import {
  agoInWords,
  clockTime,
  countOf,
  dayInWords,
  inDigits,
  lengthInWords,
} from '../../../../show/times.js';
import type { TargetDelay } from '../../../exports/delays.js';
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
  [/ECONN|ENOTFOUND|EHOST|ETIMEDOUT/, 'Look whether the database runs, and can be reached.'],
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

/** `14:02:11`, `yesterday 14:02:11` */
export const momentInWords = (iso: string, now: number): string => {
  const at = Date.parse(iso);
  const day = dayInWords(at, now);
  return `${day === 'today' ? '' : `${day} `}${clockTime(at)}`;
};

const MINUTE_MS = 60_000;
/** `3 s ago`, `2 min ago` */
const agoOf = (iso: string, now: number): string => {
  const ms = Math.max(0, now - Date.parse(iso));
  return ms < MINUTE_MS ? `${Math.floor(ms / 1_000)} s ago` : agoInWords(ms);
};

/** Files are closed every five minutes, and a message may wait for a minute. Beyond this something is wrong. */
const LONG_MS = 600_000;
export const isBehind = ({ message, delay_ms }: TargetDelay): boolean =>
  message !== undefined || delay_ms > LONG_MS;

/** Less than this part of a disk is little. */
const LITTLE = 0.02;

/** How one thing goes: a word, a number, and what is usual beside it. */
export interface Sign {
  tone: 'ok' | 'late' | 'wrong' | 'soft';
  word: string;
  /** The project that this is about; missing if it is about all of them. */
  project?: string;
  number: string;
  usual: string;
  /** What to do, if something is unusual. */
  fix?: string;
}

const storingOf = ({ storing }: HealthWord, now: number): Sign => {
  const { state, since, last, problem = '', room } = storing;
  const begun = since ? momentInWords(since, now) : '';
  const usual = room ? roomInWords(room) : '';
  if (state === 'failing')
    return { tone: 'wrong', word: 'Not storing', number: `since ${begun}`, usual: problem };
  if (state === 'untried')
    return { tone: 'soft', word: 'Storing', number: `no row was tried since ${begun}`, usual };
  const stored = { word: 'Storing', number: `last write ${agoOf(last!, now)}`, usual };
  return room && room.free < room.size * LITTLE
    ? { ...stored, tone: 'late', word: 'Little room', fix: TO_DO[0]![1] }
    : { ...stored, tone: 'ok' };
};

const arrivingOf = ({ arriving }: HealthWord, now: number): Sign => {
  const { state, last, usual: rows, project } = arriving;
  const number = last ? `last row ${agoOf(last, now)}` : 'no row yet';
  const usual = rows === undefined ? '' : `usual at this hour: ${hourlyInWords(rows)}`;
  if (state === 'usual') return { tone: 'ok', word: 'Arriving', number, usual };
  if (state === 'silent') {
    const fix = 'Look whether your pages have the tag, and what their console says.';
    return { tone: 'late', word: 'Silent', number, usual, fix, ...(project && { project }) };
  }
  const learning = state === 'learning' ? 'learning what is usual, for a week' : 'not known yet';
  return { tone: 'soft', word: 'Arriving', number, usual: learning };
};

const refusedOf = ({ state, last_hour, since, usual: n }: Health['refused'], now: number): Sign => {
  const time = since ? `since ${momentInWords(since, now)}` : 'in the last hour';
  const said = {
    number: `${inDigits(last_hour)} ${time}`,
    usual: n === undefined ? '' : `usual: ${inDigits(n)} an hour`,
  };
  return state === 'many'
    ? { ...said, tone: 'late', word: 'Many refused', fix: 'What, and why, is in the tab Refused.' }
    : { ...said, tone: 'ok', word: 'Refused' };
};

const sentOf = (targets: readonly TargetDelay[]): Sign => {
  const [worst] = [...targets].sort(
    (a, b) => Number(isBehind(b)) - Number(isBehind(a)) || b.delay_ms - a.delay_ms,
  );
  if (!worst)
    return { tone: 'soft', word: 'Sent on', number: 'nowhere', usual: 'no target is set' };
  const { name, behind, delay_ms, message } = worst;
  const rows = behind
    ? `${countOf(behind, 'row')}, ${lengthInWords(delay_ms)} behind`
    : 'has all rows';
  const number = `${name}: ${rows}`;
  const bad = targets.filter(isBehind).length;
  const others =
    bad > 1 ? `${countOf(bad, 'target')} are behind` : countOf(targets.length, 'target');
  if (!bad) return { tone: 'ok', word: 'Sent on', number, usual: others };
  const fix = 'Look whether it runs. Rows wait for it, and are sent when it takes them again.';
  const usual = message === undefined ? others : bad > 1 ? `${message}; ${others}` : message;
  return { tone: 'late', word: 'Behind', number, usual, fix };
};

/** Whether anything is wrong. Whoever reads one project alone is told two of the four. */
export const signsOf = (health: HealthWord, now: number): Sign[] => [
  storingOf(health, now),
  arrivingOf(health, now),
  ...(health.refused ? [refusedOf(health.refused, now)] : []),
  ...(health.targets ? [sentOf(health.targets)] : []),
];
