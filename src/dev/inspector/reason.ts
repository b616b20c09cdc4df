import type { Options, Status } from '../../client/types.js';
import { clockTime, countOf } from '../../show/times.js';
import { attemptsOf, openTry, type Line } from './lines.js';

/** What is known as one asks why nothing is sent. */
export interface Known {
  status: Status;
  lines: readonly Line[];
  /** The options, as they were given. */
  given?: Partial<Options> | undefined;
  /** What was wrong last with delivery. */
  error?: string | undefined;
  /** The service itself has asked for the wait. */
  isAsked: boolean;
  isGpc: boolean;
  now: number;
}

export interface Reason {
  kind: 'calm' | 'trouble' | 'wrong';
  text: string;
  /** What to do about it. */
  fix?: string | undefined;
  /** When it goes on by itself. */
  until?: number | undefined;
}

/** The last answer that was no delivery, in words. */
const lastFailure = (lines: readonly Line[]): string => {
  const [last] = lines
    .flatMap(({ tries }) => tries)
    .filter(({ endedAt, status = 0 }) => endedAt && (status < 200 || status > 299))
    .sort((one, other) => other.endedAt! - one.endedAt!);
  return last
    ? `The last answer was ${last.status || 'none'}, at ${clockTime(last.endedAt!)}.`
    : 'The last attempt failed.';
};

const ofConsent = ({ status: { consent }, isGpc, given }: Known): Reason => {
  if (consent === 'granted')
    return {
      kind: 'trouble',
      text: 'Nothing is sent before the page is shown, and while a denial is carried out.',
    };
  if (isGpc && given?.respectGpc)
    return {
      kind: 'trouble',
      text: 'Calls are dropped: Global Privacy Control is on.',
      fix: 'Switch it off, or leave out `respectGpc`.',
    };
  return {
    kind: 'trouble',
    text:
      consent === 'denied'
        ? 'Calls are dropped: consent is denied.'
        : 'Records stay in memory: consent is pending.',
    fix: "Call setConsent('granted').",
  };
};

/** Nothing stands in the way: what waits is about to go. */
const ofRest = ({ status, lines, given = {}, now }: Known): Reason => {
  const { waiting, inFlight, delivered } = status;
  const kind = 'calm';
  if (inFlight) return { kind, text: `${countOf(inFlight, 'record')} on the wire.` };
  if (!waiting)
    return {
      kind,
      text: delivered ? 'Nothing waits: all is delivered.' : 'Nothing waits: no call so far.',
    };
  const open = lines.filter((line) => !line.end && !openTry(line));
  const dues = open.map(({ due }) => due).filter((due) => due > now);
  if (dues.length && dues.length === open.length)
    return {
      kind: 'trouble',
      text: `${countOf(waiting, 'record')} failed while others passed. Each waits for itself.`,
      until: Math.min(...dues),
    };
  const { flushInterval = 1_000 } = given;
  const fresh = open.filter((line) => !attemptsOf(line)).map(({ calledAt }) => calledAt);
  return {
    kind,
    text: `${countOf(waiting, 'record')} collected for the next flush.`,
    until: Math.min(...fresh) + flushInterval,
  };
};

/** Why nothing is sent, in one sentence, with what to do; or that all is well. */
export const reasonOf = (known: Known): Reason => {
  const { status, lines, isAsked, error } = known;
  const { paused, nextAttempt: until } = status;
  switch (paused) {
    case undefined:
      return ofRest(known);
    case 'consent':
      return ofConsent(known);
    case 'offline':
      return {
        kind: 'trouble',
        text: 'The browser is offline. Records wait for the network.',
        fix: 'They go within 2 s of its return.',
        until,
      };
    case 'backoff':
      return {
        kind: 'trouble',
        text: lastFailure(lines),
        fix: isAsked ? 'The service has asked for this wait.' : 'It goes on by itself.',
        until,
      };
    case 'unreachable':
    case 'setup':
      return { kind: 'wrong', text: error ?? lastFailure(lines), until };
    case 'not-started':
      return {
        kind: 'wrong',
        text: 'Calls are kept: `init` has not been called.',
        fix: 'Call init({ … }), or give the tag its options.',
      };
    default:
      return {
        kind: 'wrong',
        text: 'Calls do nothing: the option `disabled` is on.',
        fix: 'Leave it out.',
      };
  }
};
