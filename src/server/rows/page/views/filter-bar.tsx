import { useEffect, useRef, useState } from 'preact/hooks';
import type { Feed } from '../state/feed.js';
import {
  activeFilters,
  isFiltered,
  MAX_TEXT,
  NO_FILTERS,
  withHidden,
  withOnly,
  type Filters,
} from '../state/filters.js';
import type { Seen } from '../state/seen.js';
import { still } from './still.js';
import { Text } from '../../../../show/text.js';

interface BarProps {
  feed: Feed;
  filters: Filters;
  seen: Seen;
}

const TYPING_MS = 250;

/** What is typed counts when one pauses, and stands still if the filters change by another way. */
const TypedFilter = ({
  value,
  onTyped,
  ...rest
}: {
  value: string;
  onTyped: (text: string) => void;
  id: string;
  label: string;
  placeholder: string;
}) => {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setText(value), [value]);
  const apply = (next: string): void => {
    clearTimeout(timer.current);
    onTyped(next.trim());
  };
  return (
    <label class={`field for-${rest.id}`} for={rest.id}>
      <span>{rest.label}</span>
      <input
        id={rest.id}
        maxLength={MAX_TEXT}
        type="search"
        value={text}
        placeholder={rest.placeholder}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          const next = currentTarget.value;
          setText(next);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => apply(next), TYPING_MS);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') apply(event.currentTarget.value);
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
    </label>
  );
};

const Choice = ({
  id,
  label,
  all,
  value,
  names,
  onChoose,
}: {
  id: string;
  label: string;
  all: string;
  value: string;
  names: readonly string[];
  onChoose: (name: string) => void;
}) => (
  <label class="field" for={id}>
    <span>{label}</span>
    <select
      id={id}
      class={value ? 'on' : ''}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      <option value="" selected={!value}>
        {all}
      </option>
      {(value && !names.includes(value) ? [value, ...names] : names).map((name) => (
        <option value={name} selected={name === value}>
          {name.slice(0, 60)}
        </option>
      ))}
    </select>
  </label>
);

/** Names of events to include or to leave out. */
const NameFilter = ({ feed, filters, seen }: BarProps) => {
  const [name, setName] = useState('');
  const use = (change: (filters: Filters, name: string) => Filters): void => {
    if (!name.trim()) return;
    feed.filter(change(filters, name.trim()));
    setName('');
  };
  return (
    <div class="field names">
      <label for="name">
        <span>Event name</span>
      </label>
      <div class="joined">
        <input
          id="name"
          list="names"
          placeholder="Any"
          autocomplete="off"
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
          onKeyDown={({ key }) => key === 'Enter' && use(withOnly)}
        />
        <datalist id="names">
          {seen.events.map((event) => (
            <option value={event} />
          ))}
        </datalist>
        <button type="button" disabled={!name.trim()} onClick={() => use(withOnly)}>
          Only
        </button>
        <button type="button" disabled={!name.trim()} onClick={() => use(withHidden)}>
          Hide
        </button>
      </div>
    </div>
  );
};

export const FilterBar = still(({ feed, filters, seen }: BarProps) => {
  const [isUnfolded, unfold] = useState(false);
  const change = (part: Partial<Filters>, step = true): void =>
    feed.filter({ ...filters, ...part }, { step });
  const active = activeFilters(filters);
  return (
    <search class="filters">
      <div class={`fields${isUnfolded ? ' unfolded' : ''}`}>
        <TypedFilter
          id="search"
          label="Search"
          placeholder="Any text of a row   ( / )"
          value={filters.text}
          onTyped={(text) => change({ text }, false)}
        />
        <button
          type="button"
          class="unfold"
          aria-expanded={isUnfolded}
          onClick={() => unfold(!isUnfolded)}
        >
          Filters{active.length ? ` (${active.length})` : ''}
        </button>
        <Choice
          id="project"
          label="Project"
          all="All projects"
          value={filters.project}
          names={seen.projects}
          onChoose={(project) => change({ project })}
        />
        <Choice
          id="channel"
          label="Channel"
          all="All channels"
          value={filters.channel}
          names={seen.channels}
          onChoose={(channel) => change({ channel })}
        />
        <Choice
          id="type"
          label="Kind"
          all="All kinds"
          value={filters.type}
          names={['event', 'identify']}
          onChoose={(type) => change({ type: type as Filters['type'] })}
        />
        <TypedFilter
          id="user"
          label="User"
          placeholder="Any"
          value={filters.user}
          onTyped={(user) => change({ user }, false)}
        />
        <NameFilter feed={feed} filters={filters} seen={seen} />
        {(seen.hasBrowsers || filters.mine) && (
          <label class="check">
            <input
              type="checkbox"
              checked={filters.mine}
              onChange={({ currentTarget }) => change({ mine: currentTarget.checked })}
            />
            Only this browser
          </label>
        )}
      </div>
      {isFiltered(filters) && (
        <ul class="active" aria-label="Filters that are on">
          {active.map(({ word, value, without }) => (
            <li class={word === 'hidden' ? 'hidden' : ''}>
              <button type="button" onClick={() => feed.filter(without)}>
                <span class="soft">{word}</span> <Text of={value} max={40} />
                <span class="cross" aria-hidden="true">
                  ×
                </span>
                <span class="sr-only">: take this filter away</span>
              </button>
            </li>
          ))}
          <li>
            <button type="button" class="link" onClick={() => feed.filter(NO_FILTERS)}>
              Clear all
            </button>
          </li>
        </ul>
      )}
    </search>
  );
});
