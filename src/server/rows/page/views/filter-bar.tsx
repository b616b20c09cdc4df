import { useEffect, useRef, useState } from 'preact/hooks';
import { Text } from '../../../../show/text.js';
import type { Feed } from '../state/feed.js';
import {
  activeFilters,
  hasWords,
  isFiltered,
  NO_FILTERS,
  queryOf,
  withTyped,
  type Filters,
} from '../state/filters.js';
import type { Seen } from '../state/seen.js';
import { countOf, inDigits } from '../../../../show/times.js';
import type { FilterCount, Looked } from '../../../store/port.js';
import { useAnswer } from './hooks.js';
import { backTo } from './searching.js';
import { still } from './still.js';

interface BarProps {
  feed: Feed;
  filters: Filters;
  seen: Seen;
  /** The rows for these filters have come. */
  isReady: boolean;
}

const TYPING_MS = 250;
/** Whether an offer was chosen, and not typed: browsers name the kind of what is typed alone. */
const isChosen = (event: Event): boolean =>
  !/^(insert(Text|Composition|From)|delete)/.test((event as InputEvent).inputType ?? '');

/** One box for all filters: a text counts when one pauses, words such as `event:` at Enter. */
const FilterBox = ({ feed, filters, seen }: Omit<BarProps, 'isReady'>) => {
  const [typed, setTyped] = useState(filters.text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setTyped(filters.text), [filters.text]);
  const apply = (next: string, step: boolean): void => {
    clearTimeout(timer.current);
    const changed = withTyped(filters, next);
    setTyped(changed.text);
    feed.filter(changed, { step });
  };
  const offers = [
    ...seen.events.map((name) => `event:${name}`),
    ...(seen.projects.length > 1 ? seen.projects.map((name) => `project:${name}`) : []),
    ...(seen.channels.length > 1 ? seen.channels.map((name) => `channel:${name}`) : []),
    ...['type:event', 'type:identify'],
  ];
  return (
    <label class="field for-search" for="search">
      <span class="sr-only">Search</span>
      <input
        id="search"
        type="search"
        list="offers"
        value={typed}
        placeholder="Text, event:, user: or tag:plan=pro   ( / )"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          const next = event.currentTarget.value;
          setTyped(next);
          clearTimeout(timer.current);
          if (isChosen(event) && offers.includes(next)) apply(next, true);
          else if (!hasWords(next)) timer.current = setTimeout(() => apply(next, false), TYPING_MS);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') apply(event.currentTarget.value, true);
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <datalist id="offers">
        {offers.map((offer) => (
          <option value={offer} />
        ))}
      </datalist>
    </label>
  );
};

const MINUTE_MS = 60_000;
const SPANS = [
  ['10 minutes', 10 * MINUTE_MS],
  ['hour', 60 * MINUTE_MS],
  ['24 hours', 24 * 60 * MINUTE_MS],
  ['7 days', 7 * 24 * 60 * MINUTE_MS],
  ['30 days', 30 * 24 * 60 * MINUTE_MS],
] as const;

/** The local time as `datetime-local` writes it. */
const localOf = (iso: string): string => {
  if (!iso) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
};

/** When rows arrived: since some time, or between two. */
const TimeFilter = ({ feed, filters }: Pick<BarProps, 'feed' | 'filters'>) => {
  const [isOwn, setOwn] = useState(false);
  const { from, to } = filters;
  const choose = (value: string): void => {
    setOwn(value === 'own');
    if (value === 'own') return;
    const since = value && new Date(feed.now() - Number(value)).toISOString();
    feed.filter({ ...filters, from: since, to: '' });
  };
  const field = (name: 'from' | 'to') => (
    <label class="field">
      <span class="sr-only">{name === 'from' ? 'From' : 'To'}</span>
      <input
        type="datetime-local"
        value={localOf(filters[name])}
        onChange={({ currentTarget: { value } }) =>
          feed.filter({ ...filters, [name]: value && new Date(value).toISOString() })
        }
      />
    </label>
  );
  return (
    <>
      <label class="field">
        <span class="sr-only">Time</span>
        <select
          class={from || to ? 'on' : ''}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          <option value="" selected={!from && !to && !isOwn}>
            Any time
          </option>
          {SPANS.map(([words, ms]) => (
            <option value={String(ms)}>Last {words}</option>
          ))}
          <option value="own" selected={isOwn || !!from || !!to}>
            From … to …
          </option>
        </select>
      </label>
      {(isOwn || from || to) && field('from')}
      {(isOwn || from || to) && field('to')}
    </>
  );
};

const Export = ({ filters }: { filters: Filters }) => {
  const addressOf = (format: string): string => {
    const query = queryOf(filters);
    query.set('format', format);
    return `rows?${query}`;
  };
  return (
    <nav class="export beside small" aria-label="Export what the filters show">
      <span class="soft" aria-hidden="true">
        Export
      </span>
      <a href={addressOf('ndjson')} download="rows.ndjson">
        NDJSON
      </a>
      <a href={`${addressOf('csv')}&bom=1`} download="rows.csv">
        CSV
      </a>
    </nav>
  );
};

export const FilterBar = still(({ feed, filters, seen, isReady }: BarProps) => (
  <search class="filters">
    <div class="fields wrap">
      <FilterBox feed={feed} filters={filters} seen={seen} />
      <TimeFilter feed={feed} filters={filters} />
      {(seen.hasBrowsers || filters.mine) && (
        <label class="check beside">
          <input
            type="checkbox"
            checked={filters.mine}
            onChange={({ currentTarget }) =>
              feed.filter({ ...filters, mine: currentTarget.checked })
            }
          />
          Only this browser
        </label>
      )}
      <Export filters={filters} />
    </div>
    {isFiltered(filters) && <Active {...{ feed, filters, isReady }} />}
  </search>
));

interface Counts extends FilterCount {
  filters: (FilterCount & { name: string; value: string })[];
  looked?: Looked & { rows: number };
}

/** `199,080`, or with a plus if only some of the rows were counted. */
const inShort = ({ rows, is_exact }: FilterCount): string => inDigits(rows) + (is_exact ? '' : '+');

/** How many rows fit all of the filters, and of which this is known. */
const inWords = ({ rows, is_exact, looked }: Counts, now: number): string =>
  is_exact
    ? countOf(rows, 'row')
    : `${inDigits(rows)} in the newest ${countOf(looked!.rows, 'row')} (${backTo(looked!, now)})`;

/** The filters that are on, each with the rows that it has alone, and how many all of them have. */
const Active = ({ feed, filters, isReady }: Omit<BarProps, 'seen'>) => {
  const path = `counts?${new URLSearchParams([['by', 'filter'], ...queryOf(filters)])}`;
  // The rows come first.
  const { answer, isFailed, isNew } = useAnswer<Counts>(isReady ? path : undefined);
  const counts = isNew ? answer : undefined;
  const all = activeFilters(filters);
  return (
    <ul class="active wrap" aria-label="Filters that are on">
      {all.map(({ word, name, value, without }) => {
        const count = counts?.filters.find(
          (one) => one.name === name && (name === 'mine' || one.value === value),
        );
        return (
          <li class={word === '-event' ? 'hidden' : ''}>
            <button class="small beside cut" onClick={() => feed.filter(without)}>
              <span class="soft">{word}</span> <Text of={value} max={40} name="cut" />{' '}
              {count && (
                <span class="soft">
                  {inShort(count)} <span class="sr-only">rows</span>
                </span>
              )}
              <span class="cross" aria-hidden="true">
                ×
              </span>
              <span class="sr-only">: take this filter away</span>
            </button>
          </li>
        );
      })}
      <li class="small">
        <span role="status">
          {counts ? inWords(counts, feed.now()) : isFailed ? '' : 'counting …'}
        </span>
      </li>
      <li>
        <button class="link small" onClick={() => feed.filter(NO_FILTERS)}>
          Clear all
        </button>
      </li>
    </ul>
  );
};
