import type { Status } from '../../../src/client/types.js';
import { inTime } from './in-time.js';

type Told = Pick<Status, 'consent' | 'paused' | 'nextAttempt'>;

/** What a consent other than granted does to calls; undefined where it is granted. */
export const consentWords = ({ consent }: Pick<Told, 'consent'>): string | undefined => {
  if (consent === 'denied') return 'Consent is denied: calls are dropped.';
  if (consent === 'pending') return 'Consent is pending: records are held in memory, not sent.';
  return undefined;
};

/** Why nothing is sent at the moment, and when the tracker tries again; undefined where it sends. */
export const pauseWords = (status: Told, now: number): string | undefined => {
  const { paused, nextAttempt } = status;
  if (paused === undefined) return undefined;
  if (paused === 'consent') return consentWords(status);
  if (paused === 'offline') return 'The browser is offline: records wait until it is back.';
  const next = nextAttempt === undefined ? '' : ` and tries again ${inTime(nextAttempt - now)}`;
  return paused === 'backoff'
    ? `The page still backs off${next}.`
    : `The page has paused delivery${next}.`;
};

/** What pressing the heal button has come to. */
export const healedWords = (status: Told, now: number, waiting: number): string => {
  const then = waiting > 0 ? 'What waits is sent now.' : 'Nothing waits.';
  return `The service is well again. ${pauseWords(status, now) ?? then}`;
};
