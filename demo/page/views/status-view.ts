import type { Status } from '../../../src/client/types.js';
import { setAttribute, setText } from '../dom.js';
import { inTime } from './in-time.js';

const PAUSED: Record<NonNullable<Status['paused']>, string> = {
  'not-started': 'not started',
  disabled: 'disabled',
  'no-page': 'no page',
  backoff: 'backing off',
  setup: 'set-up refused',
  unreachable: 'unreachable',
  offline: 'offline',
  consent: 'no consent',
};

const STORAGE: Record<Status['storage'], string> = {
  none: 'none',
  opening: 'opening …',
  indexeddb: 'IndexedDB',
  memory: 'memory',
};

const droppedWords = (dropped: Status['dropped']): string =>
  Object.entries(dropped)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ') || '0';

type Words = [text: string, tone?: 'good' | 'wait' | 'odd' | 'bad'];

const wordsOf = (status: Status, now: number): Record<string, Words> => ({
  delivery: status.paused ? [PAUSED[status.paused], 'wait'] : ['open', 'good'],
  next: status.nextAttempt === undefined ? ['–'] : [inTime(status.nextAttempt - now)],
  storage: [STORAGE[status.storage], status.storage === 'memory' ? 'wait' : undefined] as Words,
  user: [status.userId ?? 'none'],
  waiting: [String(status.waiting), status.waiting > 0 ? 'wait' : undefined] as Words,
  inFlight: [String(status.inFlight)],
  delivered: [String(status.delivered), status.delivered > 0 ? 'good' : undefined] as Words,
  unknown: [String(status.unknown), status.unknown > 0 ? 'odd' : undefined] as Words,
  dropped: [droppedWords(status.dropped)],
});

/** `analytics.status()` in words. Before the script has arrived there is none. */
export const createStatusView = () => {
  const places = [...document.querySelectorAll<HTMLElement>('[data-status]')];

  return (status: Status | undefined, now: number): void => {
    const words = status && wordsOf(status, now);
    for (const place of places) {
      const [text, tone = ''] = words?.[place.dataset['status'] ?? ''] ?? ['–'];
      setText(place, text);
      setAttribute(place, 'data-tone', tone);
      setAttribute(place, 'title', text);
    }
  };
};
