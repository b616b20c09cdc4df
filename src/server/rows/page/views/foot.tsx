import type { FeedState } from '../state/feed.js';
import { BOUNDS } from '../state/kept-rows.js';
import { countOf, inDigits } from '../../../../show/times.js';
import { Sight } from './sight.js';

/** Says what the page has of the rows, and leads to the older ones. */
export const Foot = ({
  state: { kept, older, isReady },
  drawn,
  end,
  isInReach,
  onMore,
}: {
  state: FeedState;
  drawn: number;
  end: number;
  /** More rows come by themselves as the end comes into sight. */
  isInReach: boolean;
  onMore: () => void;
}) => {
  const { shown, hasOlder } = kept;
  const hasMore = end < shown.length || hasOlder;
  return (
    <div class="foot soft small">
      {hasMore ? (
        (shown.length > 0 || older !== 'loading') && (
          <button disabled={older === 'loading'} onClick={onMore}>
            {older === 'loading' ? 'Loading …' : 'Load older rows'}
          </button>
        )
      ) : (
        <p>That is the first row.</p>
      )}
      {older === 'failed' && <p class="wrong">The service gave no older rows. Try again.</p>}
      {shown.length > 0 && (
        <p>
          {countOf(drawn, 'row')} drawn of {inDigits(shown.length + kept.waiting.length)} that this
          page keeps. It keeps {inDigits(BOUNDS.rows)} at most, and fetches older ones as you scroll
          down.
        </p>
      )}
      {hasMore && isReady && older === 'idle' && isInReach && (
        <Sight onSeen={onMore} of={end + shown.length} where="below" />
      )}
    </div>
  );
};
