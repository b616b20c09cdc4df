import { Text } from '../../../../show/text.js';
import type { Feed, FeedState } from '../state/feed.js';
import { signsOf, type Sign } from '../state/health.js';
import { Message } from './message.js';
import { useNow } from './hooks.js';

const MARKS: Readonly<Record<Sign['tone'], string>> = { ok: '✓', late: '!', wrong: '✕', soft: '–' };
const NO_ANSWER: Sign = {
  ...{ tone: 'wrong', word: 'No answer', number: 'from the server' },
  usual: 'so nothing is known of it',
};

const Item = ({ sign: { tone, word, number, usual, fix } }: { sign: Sign }) => (
  <li class={`wash ${tone}`}>
    <b>
      <span aria-hidden="true">{MARKS[tone]} </span>
      {word}
    </b>
    <Text of={number} max={80} />
    <small>
      <Message of={usual} />
    </small>
    {fix && <small>{fix}</small>}
  </li>
);

/** Whether anything is wrong: each with a word, a sign, a number, and what is usual. */
export const HealthStrip = ({ feed, state }: { feed: Feed; state: FeedState }) => {
  const now = useNow(feed.now);
  const { health, connection } = state;
  const isGone = connection.kind === 'lost' || connection.kind === 'silent';
  if (!health && !isGone) return null;
  const signs = health ? signsOf(health, now) : [NO_ANSWER];
  return (
    <>
      <ul class="strip" aria-label="Whether anything is wrong">
        {signs.map((sign) => (
          <Item key={sign.word} sign={sign} />
        ))}
      </ul>
      {health && (
        <p class="speaker soft small">
          This is what the process <Text of={health.process} max={80} /> sees.
        </p>
      )}
    </>
  );
};

/** Over the other tabs: what is unusual, and what to do. */
export const Notices = ({ feed, state }: { feed: Feed; state: FeedState }) => {
  const unusual = state.health ? signsOf(state.health, feed.now()) : [];
  const late = unusual.filter(({ tone }) => tone === 'late');
  return (
    <div role="status">
      <ul class="notices small">
        {late.map(({ word, number, usual, fix }) => (
          <li class="wash late" key={word}>
            <b>
              <span aria-hidden="true">! </span>
              {word}:
            </b>{' '}
            <Message of={`${number} (${usual}).`} /> {fix}
          </li>
        ))}
      </ul>
    </div>
  );
};
