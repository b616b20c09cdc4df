import type { RecordType } from '../../interface/bodies.js';
import { isoTime } from './iso-time.js';

/**
 * The time of a call, in UTC. One that nobody told, or that no calendar has, is that of the arrival. A clock that is
 * ahead must not win over the calls of years to come, so an identify is not later than its arrival.
 */
export const calledAtOf = (
  type: RecordType,
  told: string | null | undefined,
  receivedAt: string,
): string => {
  const time = told ? isoTime(told) : undefined;
  if (!time) return receivedAt;
  return type === 'identify' && time > receivedAt ? receivedAt : time;
};
