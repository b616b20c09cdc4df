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

/** The visit: `session_id` and `session_number`. Another one begins after half an hour without an event. */
export const session =
  (keep: Keep = 'tab'): Part =>
  (analytics) => {
    const update = kept<Session>(analytics, 'session', keep);
    return () => {
      const { id, number } = update(({ id, number = 0, at = 0 }) => {
        const now = Date.now();
        if (now - at > IDLE_MS) {
          id = newId();
          number++;
        }
        return { id: id!, number, at: now };
      });
      return { session_id: id, session_number: number };
    };
  };
