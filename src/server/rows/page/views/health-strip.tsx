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

const Word = ({ sign: { tone, word, project } }: { sign: Sign }) => (
  <>
    <span aria-hidden="true">{MARKS[tone]} </span>
    {word}
    {project !== undefined && (
      <>
        {' in '}
        <Text of={project} max={40} />
      </>
    )}
  </>
);

const Item = ({ sign }: { sign: Sign }) => (
  <li class={`wash ${sign.tone}`}>
    <b>
      <Word sign={sign} />
    </b>
    <Text of={sign.number} max={80} />
    <small>
      <Message of={sign.usual} />
    </small>
    {sign.fix && <small>{sign.fix}</small>}
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
        {late.map((sign) => (
          <li class="wash late" key={sign.word}>
            <b>
              <Word sign={sign} />:
            </b>{' '}
            <Message of={`${sign.number} (${sign.usual}).`} /> {sign.fix}
          </li>
        ))}
      </ul>
    </div>
  );
};
