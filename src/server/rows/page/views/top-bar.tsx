import type { TargetedKeyboardEvent } from 'preact';
import type { Feed, FeedState, Reason, Tab } from '../state/feed.js';
import { queryOf } from '../state/filters.js';
import { inDigits, lengthInWords } from '../../../../show/times.js';
import { useNow } from './hooks.js';
import { rateInWords } from './rate-words.js';

export const TopBar = ({ feed, state }: { feed: Feed; state: FeedState }) => (
  <header class="top">
    <div class="brand">
      <Logo />
      <h1>Rows</h1>
    </div>
    <Live feed={feed} state={state} />
    <Tabs feed={feed} state={state} />
    <Export state={state} />
  </header>
);

const Logo = () => (
  <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
    <rect class="logo-ground" width="32" height="32" rx="8" />
    <path d="M7 18v5a2 2 0 0 0 2 2h14a2 2 0 0 0 2-2v-5h-5l-1.5 3h-5L12 18Z" fill="#fff" />
    <path
      d="M16 6.5V14m-3.5-3.5L16 14l3.5-3.5"
      fill="none"
      stroke="#fff"
      stroke-width="2.5"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>
);

const WHY: readonly (readonly [Reason, string])[] = [
  ['button', ''],
  ['open', 'while a row is open'],
  ['scroll', 'while you read'],
  ['focus', 'while you read'],
  ['menu', 'while you choose'],
  ['pointer', 'while you point'],
];

/** Whether the page hears of rows, and of how many. */
export const Live = ({ feed, state }: { feed: Feed; state: FeedState }) => {
  const now = useNow(feed.now);
  const { kind, main, more } = liveWords(feed, state, now);
  return (
    <div class={`live ${kind}`}>
      <p>
        <span class="dot" aria-hidden="true" />
        <b>{main}</b>
        <span class="more">{more}</span>
      </p>
      {state.connection.kind === 'lost' ? (
        <button type="button" onClick={feed.retry}>
          Try now
        </button>
      ) : (
        <button
          type="button"
          class="pause"
          onClick={() => (kind === 'held' ? goOn(feed) : feed.hold('button', true))}
        >
          {kind === 'held' ? 'Go on' : 'Pause'}
        </button>
      )}
    </div>
  );
};

/** The newest rows are on top, so that is where the feed goes on. */
export const goOn = (feed: Feed): void => {
  feed.bring();
  scrollTo({ top: 0 });
};

const QUIET_MS = 5000;

const liveWords = (feed: Feed, state: FeedState, now: number) => {
  const { connection, isReady, kept, rate, total } = state;
  if (connection.kind === 'lost') {
    const seconds = Math.max(0, Math.ceil((connection.retryAt - Date.now()) / 1000));
    const again = seconds ? `trying again in ${seconds} s` : 'trying again';
    return { kind: 'lost', main: connection.why, more: again };
  }
  if (connection.kind !== 'open' || !isReady) {
    return { kind: 'opening', main: 'Connecting', more: '' };
  }
  const reason = WHY.find(([name]) => feed.holds(name));
  // The pointer holds the rows for a moment only.
  if (reason && (reason[0] !== 'pointer' || kept.waitingCount)) {
    return { kind: 'held', main: 'Paused', more: reason[1] };
  }
  const current = rate.current(now);
  if (current) return { kind: 'flowing', main: 'Live', more: `${rateInWords(current)} a second` };
  const last = kept.shown[0] && Date.parse(kept.shown[0].row.received_at);
  if (!last) return { kind: 'quiet', main: 'Live', more: total ? 'no row matches' : 'nothing yet' };
  const quiet = now - last > QUIET_MS ? `quiet for ${lengthInWords(now - last)}` : '';
  return { kind: 'quiet', main: 'Live', more: quiet };
};

const TABS: readonly Tab[] = ['stored', 'refused'];

const Tabs = ({ feed, state }: { feed: Feed; state: FeedState }) => {
  const counts = {
    stored: '',
    refused: `${inDigits(state.refused.length)}${state.hasMoreRefused ? '+' : ''}`,
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    const other = TABS.find((tab) => tab !== state.tab)!;
    feed.choose(other);
    document.getElementById(`tab-${other}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Records" onKeyDown={onKeyDown}>
      {TABS.map((tab) => (
        <button
          type="button"
          role="tab"
          id={`tab-${tab}`}
          aria-selected={state.tab === tab}
          aria-controls="panel"
          tabIndex={state.tab === tab ? 0 : -1}
          onClick={() => feed.choose(tab)}
        >
          {tab === 'stored' ? 'Stored' : 'Refused'}
          {tab === 'refused' && state.refused.length > 0 && (
            <span class="badge">{counts[tab]}</span>
          )}
        </button>
      ))}
    </div>
  );
};

const Export = ({ state }: { state: FeedState }) => {
  const addressOf = (format: string): string => {
    const query = queryOf(state.filters);
    query.set('format', format);
    return `rows?${query}`;
  };
  return (
    <nav class="export" aria-label="Export what the filters show">
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
