import type { Listeners, OutboxRecord } from '../../../src/client/types.js';
import { demoIdIn } from '../calls/call.js';
import { byId, make } from '../dom.js';
import { tracker } from '../tracker.js';
import { timeOf } from './time.js';

const MOST_SHOWN = 200;

interface Line {
  at: number;
  type: keyof Listeners;
  text: string;
  tone?: 'good' | 'wait' | 'odd' | 'bad' | undefined;
}

const nameOf = (record: OutboxRecord | undefined): string => {
  if (!record) return 'a call';
  const body = JSON.parse(record.body) as Record<string, unknown>;
  const id = demoIdIn(body['tags'] ?? body['properties']);
  const name = record.type === 'event' ? String(body['event']) : `identify ${record.user}`;
  return id ? `${name} ${id}` : name;
};

const OUTCOME_TONES = {
  delivered: 'good',
  retry: 'wait',
  blocked: 'wait',
  rejected: 'bad',
  unknown: 'odd',
} as const;

const describe: {
  [Type in keyof Listeners]: (payload: Listeners[Type]) => Omit<Line, 'at' | 'type'>;
} = {
  record: (record) => ({ text: nameOf(record) }),
  sent: ({ record, handoff }) => ({
    text: `${nameOf(record)}, attempt ${record.attempts}${handoff ? ', handed to the browser' : ''}`,
  }),
  outcome: ({ record, outcome, status }) => ({
    text: `${nameOf(record)}: ${outcome}${status ? ` (${status})` : ''}`,
    tone: OUTCOME_TONES[outcome],
  }),
  drop: ({ record, reason, message }) => ({
    text: `${nameOf(record)}: ${reason} – ${message}`,
    tone: 'bad',
  }),
  error: ({ message }) => ({ text: message, tone: 'bad' }),
  storage: ({ storage, message }) => ({
    text: message ? `${storage} – ${message}` : storage,
    tone: storage === 'memory' ? 'wait' : 'good',
  }),
  consent: ({ consent }) => ({ text: consent, tone: consent === 'granted' ? 'good' : 'wait' }),
  reset: () => ({ text: 'the user is forgotten' }),
};

/** The latest of what `analytics.on` tells, the newest on top. Drawn once a frame, however much there is. */
export const createLogView = () => {
  const list = byId('log');
  const empty = byId('log-empty');
  let fresh: Line[] = [];

  const draw = ({ at, type, text, tone }: Line): HTMLElement =>
    make(
      'li',
      {},
      make('time', { datetime: new Date(at).toISOString() }, timeOf(at)),
      make('b', { 'data-tone': tone }, type),
      make('span', {}, text),
    );

  const flush = () => {
    if (fresh.length === 0) return; // cleared meanwhile
    const lines = fresh.slice(-MOST_SHOWN).reverse();
    fresh = [];
    empty.hidden = true;
    list.prepend(...lines.map(draw));
    while (list.children.length > MOST_SHOWN) list.lastElementChild?.remove();
  };

  const listen = <Type extends keyof Listeners>(type: Type): void => {
    tracker().on(type, (payload) => {
      if (fresh.length === 0) requestAnimationFrame(flush);
      fresh.push({ at: Date.now(), type, ...describe[type](payload) });
    });
  };

  return {
    /** Listens to the tracker until it is stopped. */
    listen: (): void => {
      for (const type of Object.keys(describe) as (keyof Listeners)[]) listen(type);
    },
    clear: (): void => {
      fresh = [];
      list.replaceChildren();
      empty.hidden = false;
    },
  };
};
