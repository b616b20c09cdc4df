import type { Status } from '../../../src/client/types.js';
import { byId, setText } from '../dom.js';
import { inTime } from './in-time.js';

type Told = Pick<Status, 'waiting' | 'inFlight' | 'paused' | 'nextAttempt'>;

/** When what is on the way is tried next, as a person would say it; empty where nothing has to wait. */
export const nextAttemptWords = (status: Told | undefined, now: number): string => {
  if (!status?.paused || status.nextAttempt === undefined) return '';
  return status.waiting + status.inFlight > 0 ? inTime(status.nextAttempt - now) : '';
};

/** The countdown beside the count of what is on the way. */
export const createNextAttempt = () => {
  const place = byId('next-attempt');
  const text = byId('next-attempt-time');
  return (status: Told | undefined, now: number): void => {
    const words = nextAttemptWords(status, now);
    place.hidden = words === '';
    setText(text, words);
  };
};
