import { useEffect, useRef, useState } from 'preact/hooks';
import type { Feed, FeedState } from '../state/feed.js';
import { countOf } from '../../../../show/times.js';

/** A reader of the screen hears counts, and no more often than this. */
const EVERY_MS = 10_000;

const newestSeq = ({ kept }: FeedState): number => kept.shown[0]?.row.seq ?? 0;

/** Says now and then how many rows have come, and never reads out each of them. */
export const Announcer = ({ feed, state }: { feed: Feed; state: FeedState }) => {
  const [words, say] = useState('');
  const arrived = useRef(0);
  const newest = useRef(newestSeq(state));
  useEffect(() => {
    const { shown } = state.kept;
    // Only what is new has to be looked at.
    const at = shown.findIndex(({ row }) => row.seq <= newest.current);
    arrived.current += at < 0 ? shown.length : at;
    newest.current = newestSeq(state);
  }, [state.kept]);
  useEffect(() => {
    const timer = setInterval(() => {
      const waiting = feed.state().kept.waitingCount;
      const parts = [
        arrived.current ? `${countOf(arrived.current, 'new row')} shown` : '',
        waiting ? `${countOf(waiting, 'row')} waiting while the feed is paused` : '',
      ];
      arrived.current = 0;
      const next = parts.filter(Boolean).join(', ');
      if (next) say(next);
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [feed]);
  return (
    <p class="sr-only" role="status" id="announcer">
      {words}
    </p>
  );
};
