import { Fragment, type TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Row } from '../../../store/port.js';
import type { Feed, FeedState } from '../state/feed.js';
import { dayInWords, inDigits } from '../../../../show/times.js';
import { Foot } from './foot.js';
import { useKeepPlace } from './keep-place.js';
import { NoMatch } from './no-match.js';
import { RowItem } from './row-item.js';
import { Sight } from './sight.js';
import { goOn } from './top-bar.js';
import { useHolds } from './use-holds.js';
import { pressedValue, ValueMenu, type Pressed } from './value-menu.js';

/** As many rows are in the document while the feed flows, and as many more for each step down. */
const STEP = 50;
/** And never more than these: further steps let go of the rows above. */
const MAX_DRAWN = 500;

/** The stretch of the kept rows that is drawn: from this row on, or from the newest. */
interface Stretch {
  from: number | undefined;
  count: number;
}
const NEWEST: Stretch = { from: undefined, count: STEP };

interface ViewProps {
  feed: Feed;
  state: FeedState;
}

export const RowsView = ({ isEmpty, ...view }: ViewProps & { isEmpty: boolean }) => {
  const { isReady, kept } = view.state;
  if (isEmpty) return <NoMatch {...view} />;
  if (!isReady && !kept.shown.length) {
    return <p class="no-match soft">Asking for the newest rows …</p>;
  }
  return <Rows {...view} />;
};

const Rows = ({ feed, state }: ViewProps) => {
  const { kept, openSeq, fresh, isReady, seen } = state;
  const [hasProjects, hasChannels] = [seen.projects.length > 1, seen.channels.length > 1];
  const list = useRef<HTMLDivElement>(null);
  const [stretch, setStretch] = useState(NEWEST);
  const [active, setActive] = useState<number | undefined>();
  const [pressed, press] = useState<Pressed | undefined>();
  const today = new Date(feed.now()).setHours(0, 0, 0, 0);

  const { shown } = kept;
  const found = shown.findIndex(({ row }) => row.seq === stretch.from);
  const first = Math.max(0, found);
  const drawn = shown.slice(first, first + stretch.count);
  /** The day of the row that was drawn last: above the first one of another day, its name is drawn. */
  let day = 'today';
  const activeSeq = drawn.some(({ row }) => row.seq === active) ? active : drawn[0]?.row.seq;

  const isFlowing = !feed.isHeld();
  // What has been scrolled down to is let go as the feed flows again.
  useEffect(() => {
    if (isFlowing) setStretch(NEWEST);
  }, [isFlowing]);
  useHolds(feed, list);
  useKeepPlace(list, first && shown[first]!.row.seq);

  const moveTo = (at: number): void =>
    setStretch({ from: at > 0 ? shown[at]!.row.seq : undefined, count: MAX_DRAWN });
  const showBelow = (): void => {
    const isMore = first + stretch.count < shown.length;
    if (!isMore) return void feed.loadOlder();
    if (stretch.count < MAX_DRAWN) {
      setStretch({ from: shown[first]!.row.seq, count: stretch.count + STEP });
    } else moveTo(first + STEP);
  };
  const showAbove = (): void => moveTo(first - STEP);

  const rowOf = (target: EventTarget | null): Row | undefined => {
    const article = target instanceof Element ? target.closest<HTMLElement>('.row') : null;
    const seq = Number(article?.dataset['seq']);
    return shown.find(({ row }) => row.seq === seq)?.row;
  };
  const toggle = (row: Row): void => feed.open(openSeq === row.seq ? undefined : row.seq);

  const onClick = (event: MouseEvent): void => {
    const row = rowOf(event.target);
    if (!row || !(event.target instanceof Element)) return;
    setActive(row.seq);
    const button = event.target.closest<HTMLElement>('[data-kind]');
    if (button && button.dataset['kind'] !== 'toggle') return press(pressedValue(row, button));
    const isInLine = event.target.closest('.line');
    if (isInLine && document.getSelection()?.isCollapsed !== false) toggle(row);
  };
  const focusRow = (at: number): void => {
    const seq = drawn[at]?.row.seq;
    if (seq === undefined) return at >= drawn.length ? showBelow() : undefined;
    setActive(seq);
    document.getElementById(`row-${seq}`)?.focus();
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const row = rowOf(event.target);
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
    const isOnRow = event.target instanceof Element && event.target.matches('.row');
    const step = { j: 1, k: -1, ...(isOnRow ? { ArrowDown: 1, ArrowUp: -1 } : {}) }[event.key];
    const at = drawn.findIndex((arrival) => arrival.row.seq === row.seq);
    if (step) focusRow(at + step);
    else if (event.key === 'Enter' && isOnRow) toggle(row);
    else if (event.key === 'Escape') {
      if (openSeq !== undefined) feed.open(undefined);
      else (document.activeElement as HTMLElement | null)?.blur();
      if (openSeq !== undefined) document.getElementById(`row-${row.seq}`)?.focus();
    } else return;
    event.preventDefault();
  };

  const bring = (): void => {
    setStretch(NEWEST);
    goOn(feed);
    list.current?.focus({ preventScroll: true });
  };

  return (
    <section
      class={`rows${isReady ? '' : ' stale'}`}
      aria-labelledby="rows-title"
      aria-busy={!isReady}
    >
      <h2 id="rows-title" class="sr-only">
        Stored rows
      </h2>
      {kept.waitingCount > 0 && (
        <div class="new">
          <button class="primary" onClick={bring}>
            <span aria-hidden="true">↑ </span>
            {inDigits(kept.waitingCount)} new
          </button>
        </div>
      )}
      <div
        ref={list}
        class={`list${hasProjects || hasChannels ? ' with-where' : ''}`}
        role="feed"
        aria-label="Stored rows, newest first"
        tabIndex={-1}
        onClick={onClick}
        onKeyDown={onKeyDown}
      >
        {drawn.map(({ row }) => {
          const before = day;
          day = dayInWords(Date.parse(row.received_at), today);
          return (
            <Fragment key={row.seq}>
              {day !== before && <p class="day">{day}</p>}
              <RowItem
                row={row}
                isOpen={row.seq === openSeq}
                isActive={row.seq === activeSeq}
                isFresh={fresh.has(row.seq)}
                today={today}
                hasProjects={hasProjects}
                hasChannels={hasChannels}
              />
            </Fragment>
          );
        })}
      </div>
      {first > 0 && <Sight key="above" onSeen={showAbove} of={first} where="above" />}
      <Foot
        state={state}
        drawn={drawn.length}
        end={first + drawn.length}
        isInReach={!isFlowing || drawn.length < STEP}
        onMore={showBelow}
      />
      {pressed && <ValueMenu feed={feed} pressed={pressed} onClose={() => press(undefined)} />}
    </section>
  );
};
