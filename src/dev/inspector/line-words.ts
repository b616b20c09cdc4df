import { clockTime, exactLength, lengthInWords } from '../../show/times.js';
import { attemptsOf, openTry, type Line } from './lines.js';

/** What a part of a line is, by which it is coloured. */
export type Kind = 'rest' | 'wire' | 'trouble' | 'ok' | 'wrong' | 'ahead';

const KINDS = { delivered: 'ok', dropped: 'wrong', unknown: 'trouble', elsewhere: 'rest' } as const;

const answerOf = (status: number): string => `${status || 'no answer'}`;

/** What is left until a time, with tenths at the end: `1.0 s`. */
export const countdown = (ms: number): string =>
  ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : lengthInWords(ms);

/** When a record goes at the earliest: one that has failed waits for itself and for its destination. */
export const dueOf = (line: Line, until = 0): number =>
  attemptsOf(line) ? Math.max(line.due, until) : 0;

/** What has become of a record, in a few words. */
export const stateOf = (line: Line, now: number, due: number): [text: string, kind: Kind] => {
  const { end, calledAt, tries } = line;
  const attempts = attemptsOf(line);
  const more = attempts > 1 ? `, attempt ${attempts}` : '';
  if (end) {
    const { what, message, at } = end;
    const text = {
      delivered: `delivered in ${exactLength(at - calledAt)}${more}`,
      dropped: `dropped (${message})`,
      unknown: 'unknown: left before the answer',
      elsewhere: message,
    };
    return [text[what], KINDS[what]];
  }
  const open = openTry(line);
  if (open) return [`on the wire for ${exactLength(now - open.sentAt)}${more}`, 'wire'];
  const wait = due > now ? `again in ${countdown(due - now)}` : 'waits';
  const last = tries.at(-1);
  return [last ? `${answerOf(last.status!)}, ${wait}` : wait, attempts ? 'trouble' : 'rest'];
};

/** Whether the words change by themselves. */
export const isTicking = (line: Line, now: number, due: number): boolean =>
  !line.end && (!!openTry(line) || due > now);

/** Milliseconds. Lives that took longer are cut off in the picture. */
const LONGEST_SCALE = 64_000;

const lastOf = ({ calledAt, end }: Line, now: number, due: number): number =>
  (end?.at ?? Math.max(now, due)) - calledAt;

/** The milliseconds that the bars of all lines are wide: a power of two, so that it seldom changes. */
export const scaleOf = (lines: readonly Line[], now: number): number => {
  const longest = Math.max(...lines.map((line) => lastOf(line, now, line.due)));
  let scale = 1_000;
  while (scale < longest && scale < LONGEST_SCALE) scale *= 2;
  return scale;
};

/** A record's life as stretches on a scale that begins with its call: at rest, on the wire, after a failure, to come. */
export const barOf = (
  { calledAt, tries, earlier, end }: Line,
  { now, due, scale }: { now: number; due: number; scale: number },
): [kind: Kind, from: number, width: number][] => {
  const parts: [kind: Kind, from: number, width: number][] = [];
  /** No stretch is shorter than this: it would not be seen. */
  const least = scale / 60;
  let at = calledAt;
  let resting: Kind = earlier ? 'trouble' : 'rest';
  const add = (kind: Kind, until: number) => {
    parts.push([kind, Math.min(at - calledAt, scale - least), Math.max(until - at, least)]);
    at = Math.max(at, until);
  };
  for (const { sentAt, endedAt } of tries) {
    add(resting, sentAt);
    add('wire', endedAt ?? end?.at ?? now);
    if (endedAt) resting = 'trouble';
  }
  if (end) add(KINDS[end.what], at);
  else if (!tries.length || tries.at(-1)!.endedAt) add(resting, now);
  if (!end && due > at) add('ahead', due);
  return parts;
};

/** Each step of a record's life, oldest first, with its time and how long after the call it was. */
export const stepsOf = (line: Line): [what: string, after: string, when: string][] => {
  const { calledAt, storedAt, tries, earlier, end } = line;
  const steps: [what: string, at: number][] = [['called', calledAt]];
  if (storedAt) steps.push(['seen in the outbox', storedAt]);
  tries.forEach(({ sentAt, endedAt, status = 0, handoff }, i) => {
    steps.push([handoff ? 'handed off' : `sent, attempt ${earlier + i + 1}`, sentAt]);
    if (endedAt) steps.push([`answer: ${answerOf(status)}`, endedAt]);
  });
  if (end) steps.push([`${end.what} ${end.message}`, end.at]);
  return steps
    .sort((a, b) => a[1] - b[1])
    .map(([what, at]) => [
      what,
      at > calledAt ? `+${exactLength(at - calledAt)}` : '',
      clockTime(at, 3),
    ]);
};
