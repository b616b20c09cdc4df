import { TABS, type Feed, type FeedState, type Reason, type Tab } from '../state/feed.js';
import { TabList } from '../../../../show/tab-list.js';
import { isStoring, momentInWords } from '../state/health.js';
import { inDigits, lengthInWords } from '../../../../show/times.js';
import { isFiltered } from '../state/filters.js';
import { useNow } from './hooks.js';
import { Message } from './message.js';
import { rateInWords } from './rate-words.js';

export const TopBar = ({ feed, state }: { feed: Feed; state: FeedState }) => (
  <header class="top wrap">
    <Brand name={TAB_WORDS[state.tab]} />
    <Live feed={feed} state={state} />
    <Tabs feed={feed} state={state} />
  </header>
);

/** The logo stands in `index.html`, which shows it before this script has come. */
export const Brand = ({ name }: { name: string }) => (
  <div class="brand beside">
    <svg width="28" height="28" aria-hidden="true">
      <use href="#logo" />
    </svg>
    <h1>{name}</h1>
  </div>
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
    <div class={`live beside ${kind}`}>
      <p class="beside">
        <span class="dot" aria-hidden="true" />
        <b class="cut">
          <Message of={main} />
        </b>
        <span class="more cut soft">{more}</span>
      </p>
      {state.connection.kind === 'lost' ? (
        <button class="small" onClick={feed.retry}>
          Try now
        </button>
      ) : (
        <button
          class="small"
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
  const { connection, filters, health, isReady, kept, rate, total } = state;
  if (connection.kind === 'lost') {
    const seconds = Math.max(0, Math.ceil((connection.retryAt - Date.now()) / 1000));
    const again = seconds ? `trying again in ${seconds} s` : 'trying again';
    return { kind: 'lost', main: connection.why, more: again };
  }
  if (connection.kind === 'silent') {
    const silent = lengthInWords(now - feed.now() + Date.now() - connection.since);
    return { kind: 'lost', main: 'No sign of life', more: `from the server for ${silent}` };
  }
  if (!isStoring(health)) {
    const { since } = health!.storing;
    const more = since ? `since ${momentInWords(since, now)}` : '';
    return { kind: 'lost', main: 'Rows are not stored', more };
  }
  if (connection.kind !== 'open') return { kind: 'opening', main: 'Connecting', more: '' };
  if (!isReady) {
    const main = isFiltered(filters) ? 'Searching' : 'Reading rows';
    return { kind: 'searching', main, more: '' };
  }
  const reason = WHY.find(([name]) => feed.holds(name));
  // The pointer holds the rows for a moment only.
  if (reason && (reason[0] !== 'pointer' || kept.waitingCount)) {
    return { kind: 'held', main: 'Paused', more: reason[1] };
  }
  const current = rate.current(now);
  if (current) return { kind: 'flowing', main: 'Live', more: `${rateInWords(current)} a second` };
  const last = kept.shown[0] && Date.parse(kept.shown[0].row.received_at);
  const none = kept.hasOlder ? '' : total ? 'no row matches' : 'nothing yet';
  if (!last) return { kind: 'quiet', main: 'Live', more: none };
  const quiet = now - last > QUIET_MS ? `quiet for ${lengthInWords(now - last)}` : '';
  return { kind: 'quiet', main: 'Live', more: quiet };
};

export const TAB_WORDS: Readonly<Record<Tab, string>> = {
  ...{ overview: 'Overview', rows: 'Rows', users: 'Users', refused: 'Refused' },
};

const Tabs = ({ feed, state }: { feed: Feed; state: FeedState }) => {
  const sum = (state.refusedHours ?? []).reduce((total, { n }) => total + n, 0);
  const refused = Math.max(sum, state.refused.length);
  return (
    <TabList
      {...{ kind: 'tabs', label: 'Records', names: TABS, chosen: state.tab, choose: feed.choose }}
      {...{ id: 'tab', panel: 'panel' }}
      wordsOf={(tab) => (
        <>
          {TAB_WORDS[tab]}
          {tab === 'refused' && refused > 0 && <span class="pill wrong">{inDigits(refused)}</span>}
        </>
      )}
    />
  );
};
