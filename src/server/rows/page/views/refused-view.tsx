import { useState } from 'preact/hooks';
import type { Refused } from '../../../store/port.js';
import type { Feed, FeedState } from '../state/feed.js';
import type { Resent } from '../state/service.js';
import { refusalWords } from '../../../../show/words.js';
import { arrivalTime, countOf, inDigits } from '../../../../show/times.js';
import { CopyButton } from '../../../../show/copy-button.js';
import { LongText, Text } from '../../../../show/text.js';

type Reason = Refused['reason'];
/** As many are drawn at first, and more on demand. */
const STEP = 100;

type Sending = Resent | 'sending' | 'failed' | undefined;

/** What has failed, or was refused once more, may be sent another time. */
const isStored = (resent: Sending): resent is Resent & { outcome: 'stored' | 'known' } =>
  typeof resent === 'object' && resent.outcome !== 'dead';
const maySend = (resent: Sending): boolean => resent !== 'sending' && !isStored(resent);

export const RefusedView = ({ feed, state }: { feed: Feed; state: FeedState }) => {
  const [reason, choose] = useState<Reason | undefined>();
  const [limit, setLimit] = useState(STEP);
  const { refused, resent, onlyProject } = state;
  const mayResend = onlyProject === undefined;
  const counts = new Map<Reason, number>();
  for (const { reason: name } of refused) counts.set(name, (counts.get(name) ?? 0) + 1);
  const wanted = reason ? refused.filter((entry) => entry.reason === reason) : refused;
  const dead = wanted.filter(({ isDead, seq }) => isDead && maySend(resent.get(seq)));

  if (!refused.length) return <NothingRefused isReady={state.isReady} />;
  return (
    <section class="refused" aria-labelledby="refused-title">
      <div class="refused-head">
        <div class="refused-title">
          <h2 id="refused-title">
            {countOf(refused.length, 'refusal')}
            {state.hasMoreRefused && ' and more'}
          </h2>
          {mayResend && dead.length > 1 && (
            <button
              type="button"
              class="primary"
              onClick={() => void feed.resend(dead.map(({ seq }) => seq))}
            >
              Send all {inDigits(dead.length)} dead letters again
            </button>
          )}
        </div>
        <p class="soft">
          Nothing of these is stored. The oldest are forgotten first, so that a flood stays small.
        </p>
        <div class="reasons" role="group" aria-label="Show by reason">
          <button type="button" aria-pressed={!reason} onClick={() => choose(undefined)}>
            All <span>{inDigits(refused.length)}</span>
          </button>
          {[...counts].map(([name, count]) => (
            <button
              type="button"
              aria-pressed={reason === name}
              onClick={() => choose(reason === name ? undefined : name)}
            >
              {refusalWords(name).title} <span>{inDigits(count)}</span>
            </button>
          ))}
        </div>
      </div>
      <ul class="refusals">
        {wanted.slice(0, limit).map((entry) => (
          <Refusal
            key={entry.seq}
            entry={entry}
            resent={resent.get(entry.seq)}
            mayResend={mayResend}
            now={feed.now()}
            onResend={() => void feed.resend([entry.seq])}
          />
        ))}
      </ul>
      {wanted.length > limit && (
        <div class="foot">
          <button type="button" onClick={() => setLimit(limit + STEP)}>
            Show more
          </button>
        </div>
      )}
    </section>
  );
};

const NothingRefused = ({ isReady }: { isReady: boolean }) => (
  <section class="no-match">
    <h2>{isReady ? 'Nothing was refused' : 'Connecting …'}</h2>
    <p>
      A record with a wrong token, an unknown project or a field that is wrong is shown here, with
      the reason and the way to put it right.
    </p>
  </section>
);

interface RefusalProps {
  entry: Refused;
  resent: Sending;
  mayResend: boolean;
  now: number;
  onResend: () => void;
}

const Refusal = ({ entry, resent, mayResend, now, onResend }: RefusalProps) => {
  const { title, fix } = refusalWords(entry.reason);
  const { day, time } = arrivalTime(entry.received_at, now);
  const of = [entry.type, entry.project].filter(Boolean).join(' · ');
  return (
    <li class="refusal">
      <div>
        <div class="refusal-head">
          <span class={`status of-${entry.reason}`}>{entry.status}</span>
          <h3>{title}</h3>
          {of && (
            <span class="soft">
              <Text of={of} max={80} />
            </span>
          )}
          <time class="soft" dateTime={entry.received_at}>
            {day} {time}
          </time>
        </div>
        <p class="message">
          <LongText of={entry.message} />
        </p>
        {fix && <p class="fix">{fix}</p>}
        {entry.id && (
          <p class="soft">
            Record id{' '}
            <code>
              <Text of={entry.id} max={80} />
            </code>
          </p>
        )}
        {mayResend && entry.isDead && <SendAgain resent={resent} onResend={onResend} />}
      </div>
      {entry.body && (
        <div class="snippet">
          <pre tabIndex={0} dir="ltr" aria-label="What was sent">
            <LongText of={entry.body} />
          </pre>
          <CopyButton text={() => entry.body!} />
        </div>
      )}
    </li>
  );
};

const SendAgain = ({ resent, onResend }: Pick<RefusalProps, 'resent' | 'onResend'>) => {
  if (isStored(resent)) {
    const words = resent.outcome === 'stored' ? 'It is stored now.' : 'It was stored already.';
    return <p class="sent">✓ {words}</p>;
  }
  return (
    <div class="again">
      <button type="button" disabled={resent === 'sending'} onClick={onResend}>
        {resent === 'sending' ? 'Sending …' : 'Send again'}
      </button>
      {resent === 'failed' && <span class="wrong">The service did not answer.</span>}
      {typeof resent === 'object' && (
        <span class="wrong">
          Refused again: <Text of={resent.message ?? ''} />
        </span>
      )}
    </div>
  );
};
