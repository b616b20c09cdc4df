import { clockTime, dayInWords } from '../../../../show/times.js';
import type { Looked } from '../../../store/port.js';
import type { Feed, FeedState } from '../state/feed.js';
import { isFiltered } from '../state/filters.js';

/** `back to 12 Nov, 14:03:11`; nothing while it is not known. */
export const backTo = ({ since }: Pick<Looked, 'since'>, now: number): string =>
  since === undefined
    ? ''
    : `back to ${dayInWords(Date.parse(since), now)}, ${clockTime(Date.parse(since))}`;

/** How far a search has come, and the way to stop it. */
export const Searching = ({ feed, state }: { feed: Feed; state: FeedState }) => {
  const { filters, older, looked, isReady } = state;
  const isOn = !isReady || older === 'loading';
  if (!isFiltered(filters) || (!isOn && older !== 'stopped')) return null;
  const words = looked && isReady ? backTo(looked, feed.now()) : '';
  return (
    <div class={`searching beside soft small${isOn ? ' on' : ''}`}>
      <span role="status">{isOn ? `Searching ${words} …` : `Stopped. Searched ${words}`}</span>
      {isReady && isOn && (
        <button class="small" onClick={feed.stopSearch}>
          Stop
        </button>
      )}
    </div>
  );
};
