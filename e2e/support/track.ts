import type { Evaluates } from './evaluates.js';

/** Calls `event` once a name, all in one task. Answers with the times of the calls. */
export const track = (
  page: Evaluates,
  events: readonly string[],
): Promise<Record<string, number>> =>
  page.evaluate((events) => {
    const times: Record<string, number> = {};
    for (const event of events) {
      times[event] = Date.now();
      analytics.event(event);
    }
    return times;
  }, events);
