import type { Feed, FeedState } from '../state/feed.js';
import { activeFilters, NO_FILTERS } from '../state/filters.js';
import { countOf } from '../../../../show/times.js';
import { Text } from '../../../../show/text.js';

export const NoMatch = ({ feed, state }: { feed: Feed; state: FeedState }) => (
  <section class="no-match">
    <h2>No row matches</h2>
    <p>
      {state.total
        ? `There are ${countOf(state.total, 'row')} in all, but none with `
        : 'None has '}
      {activeFilters(state.filters).map(({ word, value }, at) => (
        <>
          {at > 0 && ', and '}
          <span class="soft">{word === '-event' ? 'a name other than' : word}</span>{' '}
          <b>
            <Text of={value} max={60} />
          </b>
        </>
      ))}
      . Rows that match are shown as they arrive.
    </p>
    {state.filters.mine && (
      <p>
        Nobody knows which browser sent what came before the service last started, through a queue,
        or by a relay or a service of another process.
      </p>
    )}
    <button class="primary" onClick={() => feed.filter(NO_FILTERS)}>
      Clear all filters
    </button>
  </section>
);
