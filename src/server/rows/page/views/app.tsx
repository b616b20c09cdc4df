import { useEffect } from 'preact/hooks';
import type { Feed } from '../state/feed.js';
import { isFiltered } from '../state/filters.js';
import { FilterBar } from './filter-bar.js';
import { useFeed } from './hooks.js';
import { Announcer } from './announcer.js';
import { Banner } from './banner.js';
import { Notices } from './health-strip.js';
import { LockedView } from './locked-view.js';
import { RefusedView } from './refused-view.js';
import { OverviewView } from './overview-view.js';
import { RowsView } from './rows-view.js';
import { Searching } from './searching.js';
import { TAB_WORDS, TopBar } from './top-bar.js';
import { UsersView } from './users-view.js';
import { WaitingView } from './waiting-view.js';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, select, textarea');

/** `/` goes to the search, `n` brings what is new, `j` and `k` go into the feed, from wherever one is. */
const useShortcuts = (): void => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.altKey || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      if (event.key === '/') {
        event.preventDefault();
        document.getElementById('search')?.focus();
      }
      const isInRow = event.target instanceof Element && event.target.closest('.row');
      if (event.key === 'n') document.querySelector<HTMLElement>('.new button')?.click();
      if ((event.key === 'j' || event.key === 'k') && !isInRow) {
        document.querySelector<HTMLElement>('.row[tabindex="0"]')?.focus();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
};

export const App = ({ feed }: { feed: Feed }) => {
  const state = useFeed(feed);
  useShortcuts();
  const { connection, kept, isReady, filters, tab } = state;
  const { waitingCount } = kept;
  // A hidden page has no connection, so there may be more by now.
  const more = connection.kind === 'asleep' ? '+' : '';
  useEffect(() => {
    const name = connection.kind === 'locked' ? 'Locked' : TAB_WORDS[tab];
    document.title = waitingCount ? `(${waitingCount}${more} new) ${name}` : name;
  }, [waitingCount, more, connection.kind, tab]);
  const isEmpty = isReady && !kept.shown.length && !waitingCount && !kept.hasOlder;
  const isWaiting = isEmpty && !isFiltered(filters);

  if (connection.kind === 'locked') return <LockedView connection={connection} />;
  return (
    <>
      <TopBar feed={feed} state={state} />
      <Announcer feed={feed} state={state} />
      <main>
        <Banner health={state.health} now={feed.now()} />
        {tab !== 'overview' && <Notices feed={feed} state={state} />}
        <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
          {tab === 'refused' ? (
            <RefusedView feed={feed} state={state} />
          ) : tab === 'users' ? (
            <UsersView feed={feed} state={state} />
          ) : tab === 'overview' && !isWaiting ? (
            <OverviewView feed={feed} state={state} />
          ) : isWaiting ? (
            <WaitingView feed={feed} state={state} />
          ) : (
            <>
              <FilterBar {...{ feed, filters, seen: state.seen, isReady }} />
              <Searching feed={feed} state={state} />
              <RowsView feed={feed} state={state} isEmpty={isEmpty} />
            </>
          )}
        </div>
      </main>
    </>
  );
};
