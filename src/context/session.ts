import { kept } from './kept.js';
import { newId } from './new-id.js';
import type { Keep, Part } from './types.js';

interface Session {
  id: string;
  number: number;
  /** Time of its latest event. */
  at: number;
}

const IDLE_MS = 30 * 60_000;

/**
 * The visit: `session_id` and `session_number`. Another one begins after half an hour without an event, and with
 * `reset`. An event that tells of an earlier view, and brings the session of that view, begins none.
 */
export const session =
  (keep: Keep = 'tab'): Part =>
  (analytics) => {
    const update = kept<Session>(analytics, 'session', keep);
    return ({ session_id: told } = {}) => {
      const { id, number } = update((before) => {
        const { id, number = 0, at = 0 } = before;
        const now = Date.now();
        if (now - at <= IDLE_MS) return { id: id!, number, at: now };
        return told ? before : { id: newId(), number: number + 1, at: now };
      });
      return { session_id: id, session_number: number };
    };
  };
