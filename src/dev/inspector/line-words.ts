import { attemptsOf, openTry, type Line } from './lines.js';
import { clock, countdown, stretch } from './times.js';

/** How a part of a line is coloured. */
export type Kind = 'wait' | 'air' | 'ok' | 'wrong' | 'ahead' | 'soft';

const KINDS = { delivered: 'ok', dropped: 'wrong', unknown: 'air', elsewhere: 'soft' } as const;

const answerOf = (status: number): string => `${status || 'no answer'}`;

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
      delivered: `delivered in ${stretch(at - calledAt)}${more}`,
      dropped: `dropped (${message})`,
      unknown: 'unknown: left before the answer',
      elsewhere: message,
    };
    return [text[what], KINDS[what]];
  }
  const open = openTry(line);
  if (open) return [`on the wire for ${stretch(now - open.sentAt)}${more}`, 'air'];
  const wait = due > now ? `again in ${countdown(due - now)}` : 'waits';
  const last = tries.at(-1);
  return [last ? `${answerOf(last.status!)}, ${wait}` : wait, attempts ? 'air' : 'wait'];
};

/** Whether the words change by themselves. */
export const isTicking = (line: Line, now: number, due: number): boolean =>
  !line.end && (!!openTry(line) || due > now);

/** A record's life as stretches beside each other: waiting, on the wire, and what is still to come. */
export const barOf = (
  { calledAt, tries, end }: Line,
  now: number,
  due: number,
): { parts: [kind: Kind, from: number, width: number][]; sum: number } => {
  const parts: [kind: Kind, from: number, width: number][] = [];
  const ended = end?.at ?? now;
  /** No stretch is shorter than this: it would not be seen. */
  const least = Math.max(1, Math.max(ended, due) - calledAt) / 30;
  let at = calledAt;
  let sum = 0;
  const add = (kind: Kind, until: number, isPoint = false) => {
    const ms = until - at;
    at = Math.max(at, until);
    if (ms <= 0 && !isPoint) return;
    const width = Math.max(ms, least);
    parts.push([kind, sum, width]);
    sum += width;
  };
  tries.forEach(({ sentAt, endedAt }, i) => {
    add('wait', sentAt);
    add('air', endedAt ?? ended);
    if (endedAt && !(end && i === tries.length - 1)) add('wrong', at, true);
  });
  // A record that was called just now has waited for no time, and has a line all the same.
  add('wait', ended, !end && !tries.length);
  if (end) add(KINDS[end.what], at, true);
  else add('ahead', due);
  return { parts, sum };
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
    .map(([what, at]) => [what, at > calledAt ? `+${stretch(at - calledAt)}` : '', clock(at)]);
};
