import { onUse } from './browser/on-use.js';
import type { Target } from './target.js';
import { createUmami } from './umami.js';
import type { Umami } from './umami.js';

const EVENT = 'data-umami-event';

/**
 * Makes these calls `window.umami`, and follows elements with `data-umami-event`. Umami has no stub, so there is nothing
 * that waits. Called again, it returns the calls of the first time.
 * @example takeOverUmami(analytics);
 */
export const takeOverUmami = (analytics: Pick<Target, 'identify' | 'event' | 'status'>): Umami => {
  const page = globalThis as { umami?: Umami & { outbox?: 1 } };
  if (page.umami?.outbox) return page.umami;
  const umami = (page.umami = Object.assign(createUmami(analytics), { outbox: 1 as const }));
  onUse(`[${EVENT}]`, ({ attributes }) => {
    let event: string;
    const data: Record<string, string> = {};
    for (const { name, value } of attributes) {
      if (name === EVENT) event = value;
      else if (name.startsWith(EVENT)) data[name.slice(EVENT.length + 1)] = value;
    }
    void umami.track(event!, data);
  });
  return umami;
};
