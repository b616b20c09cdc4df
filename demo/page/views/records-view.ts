import type { Fate, KnownCall } from '../calls/call.js';
import type { Verdict } from '../calls/verdict.js';
import { byId, make, setText } from '../dom.js';
import { createKeyedRows } from './keyed-rows.js';
import { timeOf } from './time.js';

export interface JudgedCall {
  call: KnownCall;
  verdict: Verdict;
}

const MOST_SHOWN = 200;

const MARKS: Record<Verdict['kind'], string> = {
  once: '✓',
  waiting: '…',
  dropped: '–',
  unknown: '?',
  wrong: '✗',
};

const TONES: Record<Verdict['kind'], string> = {
  once: 'good',
  waiting: 'wait',
  dropped: 'quiet',
  unknown: 'odd',
  wrong: 'bad',
};

const FATES: Record<Fate['kind'], string> = {
  called: 'called',
  waiting: 'waiting',
  'in flight': 'in flight',
  again: 'waiting again',
  delivered: 'delivered',
  unknown: 'answer not seen',
  dropped: 'dropped',
};

const fateWords = ({ kind, detail }: Fate): string =>
  detail ? `${FATES[kind]}, ${detail}` : FATES[kind];

const nameOf = ({ type, name }: KnownCall): string =>
  type === 'identify' ? `identify ${name}` : name || '(no name)';

const draw = ({ call, verdict }: JudgedCall): HTMLElement =>
  make(
    'tr',
    {},
    make('td', { class: 'call-cell long' }, make('code', {}, call.id), nameOf(call)),
    make(
      'td',
      { class: 'stored-cell', 'data-tone': TONES[verdict.kind] },
      make('span', { class: 'mark', 'aria-hidden': 'true' }, MARKS[verdict.kind]),
      verdict.words,
    ),
    make('td', {}, fateWords(call.fate)),
    make(
      'td',
      { class: 'time-cell extra' },
      make('time', { datetime: new Date(call.at).toISOString() }, timeOf(call.at)),
    ),
  );

/** Each call, beside how often the database holds it. */
export const createRecordsView = () => {
  const update = createKeyedRows<JudgedCall>(byId('records'), {
    key: ({ call }) => call.id,
    look: ({ call, verdict }) => fateWords(call.fate) + verdict.words,
    draw,
  });
  const count = byId('records-count');
  const empty = byId('records-empty');

  return (calls: readonly JudgedCall[]): void => {
    update(calls.slice(0, MOST_SHOWN));
    empty.hidden = calls.length > 0;
    setText(count, calls.length > MOST_SHOWN ? `latest ${MOST_SHOWN} of ${calls.length}` : '');
  };
};
