import { useMemo, useState } from 'preact/hooks';
import { CopyButton } from '../../../../show/copy-button.js';
import { LongText, Text } from '../../../../show/text.js';
import { arrivalTime, countOf, inDigits } from '../../../../show/times.js';
import { escapeHidden } from '../../../../show/visible.js';
import { refusalWords } from '../../../../show/words.js';
import type { Refused } from '../../../store/port.js';
import type { Feed, FeedState } from '../state/feed.js';
import { groupsOf, reasonsOf, type RefusedGroup } from '../state/refused-groups.js';
import type { Resent } from '../state/service.js';
import { Message } from './message.js';

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
  const { refused, refusedHours, resent, onlyProject } = state;
  const mayResend = onlyProject === undefined;
  const kept = new Map(reasonsOf(refused.map((entry) => ({ ...entry, n: 1 }))));
  const counted = new Map(reasonsOf(refusedHours ?? []));
  const sum = [...counted.values()].reduce((total, n) => total + n, 0);
  const wanted = reason ? refused.filter((entry) => entry.reason === reason) : refused;
  const groups = useMemo(() => groupsOf(wanted), [refused, reason]);
  const dead = wanted.filter(({ isDead, seq }) => isDead && maySend(resent.get(seq)));

  if (!refused.length && !sum) return <NothingRefused isCounted={refusedHours !== undefined} />;
  return (
    <section class="refused" aria-labelledby="refused-title">
      <div class="refused-head">
        <div class="refused-title wrap">
          <h2 id="refused-title">
            {refusedHours
              ? `${countOf(sum, 'answer')} refused a request or record in the last 30 days`
              : 'What was refused'}
          </h2>
          {mayResend && dead.length > 1 && (
            <button class="primary" onClick={() => void feed.resend(dead.map(({ seq }) => seq))}>
              Send all {inDigits(dead.length)} dead letters again
            </button>
          )}
        </div>
        <p class="soft">
          {countOf(refused.length, 'refusal')}
          {state.hasMoreRefused && ' and more'} {refused.length === 1 ? 'is' : 'are'} kept to look
          at: the newest 1,000 requests and records, of a flood about 5 a second of one client, and
          apart from these what the database or a target refused. Equal ones stand together. A
          record that is sent again gets an answer each time.
        </p>
        <div class="reasons wrap" role="group" aria-label="Show by reason">
          <button class="small" aria-pressed={!reason} onClick={() => choose(undefined)}>
            All <Kept kept={refused.length} counted={refusedHours && sum} />
          </button>
          {[...new Set([...counted.keys(), ...kept.keys()])].map((name) => (
            <button
              class="small"
              aria-pressed={reason === name}
              disabled={!kept.has(name)}
              onClick={() => choose(reason === name ? undefined : name)}
            >
              {refusalWords(name).title}{' '}
              <Kept kept={kept.get(name) ?? 0} counted={counted.get(name)} />
            </button>
          ))}
        </div>
      </div>
      <ul class="refusals">
        {groups.slice(0, limit).map((group) => (
          <Refusal
            key={group.key}
            group={group}
            resent={resent}
            mayResend={mayResend}
            now={feed.now()}
            onResend={(seqs) => void feed.resend(seqs)}
          />
        ))}
      </ul>
      {groups.length > limit && (
        <div class="foot small">
          <button onClick={() => setLimit(limit + STEP)}>Show more</button>
        </div>
      )}
    </section>
  );
};

/** `45 of 1,204`: how many are kept, of how many answers. Some kept ones are older than the counts, or no answers. */
const Kept = ({ kept, counted }: { kept: number; counted: number | undefined }) => (
  <span class="soft">
    {inDigits(kept)}
    {counted !== undefined && counted > kept && ` of ${inDigits(counted)}`}
  </span>
);

const NothingRefused = ({ isCounted }: { isCounted: boolean }) => (
  <section class="no-match">
    <h2>
      {isCounted ? '0 answers refused a request or record in the last 30 days' : 'Counting …'}
    </h2>
    <p>
      A record with a wrong token, an unknown project or a field that is wrong is shown here, with
      the reason and the way to put it right.
    </p>
  </section>
);

interface RefusalProps {
  group: RefusedGroup;
  resent: FeedState['resent'];
  mayResend: boolean;
  now: number;
  onResend: (seqs: readonly number[]) => void;
}

const Refusal = ({ group, resent, mayResend, now, onResend }: RefusalProps) => {
  const { entries } = group;
  const [entry] = entries as [Refused];
  const { title, fix } = refusalWords(entry.reason);
  const when = ({ received_at }: Refused): string => {
    const { day, time } = arrivalTime(received_at, now);
    return `${day} ${time}`.trim();
  };
  const of = [entry.target, entry.type, entry.project].filter(Boolean).join(' · ');
  const count = entries.length;
  return (
    <li class="refusal card columns">
      <div>
        <div class="refusal-head wrap">
          <span class="pill wrong">{entry.status}</span>
          <h3>
            {title}
            {count > 1 && <span class="wrong"> ×{inDigits(count)}</span>}
          </h3>
          {of && <Text of={of} max={80} name="soft" />}
          <span class="soft when">
            {count > 1 && (
              <time dateTime={entries.at(-1)!.received_at}>{when(entries.at(-1)!)}</time>
            )}
            {count > 1 && ' to '}
            <time dateTime={entry.received_at}>{when(entry)}</time>
          </span>
        </div>
        <p class="message">
          <Message of={entry.message} />
        </p>
        {fix && <p class="fix soft">{fix}</p>}
        {entry.id && (
          <p class="soft">
            {count > 1 ? 'Record id of the newest' : 'Record id'}{' '}
            <code>
              <Text of={entry.id} max={80} />
            </code>
          </p>
        )}
        {mayResend && entry.isDead && <SendAgain {...{ entries, resent, onResend }} />}
      </div>
      {entry.body && (
        <div class="snippet">
          <pre tabIndex={0} dir="ltr" aria-label="What was sent">
            <Body of={entry.body} />
          </pre>
          <CopyButton text={() => entry.body!} />
        </div>
      )}
    </li>
  );
};

const Body = ({ of }: { of: string }) =>
  isJson(of) ? <LongText of={escapeHidden(of)} form="json" /> : <LongText of={of} />;

/** A long body is cut, and then no JSON any more. */
const isJson = (body: string): boolean => {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
};

interface AgainProps extends Pick<RefusalProps, 'resent' | 'onResend'> {
  entries: readonly Refused[];
}

const SendAgain = ({ entries, resent, onResend }: AgainProps) => {
  const all = entries.map(({ seq }) => resent.get(seq));
  const stored = all.filter(isStored);
  const left = entries.filter(({ seq }) => maySend(resent.get(seq)));
  const refusedAgain = all.find((one) => typeof one === 'object' && one.outcome === 'dead');
  const isSending = all.includes('sending');
  if (stored.length === entries.length) {
    const isNew = stored.some(({ outcome }) => outcome === 'stored');
    const [one, many] = isNew
      ? ['It is stored now.', 'They are stored now.']
      : ['It was stored already.', 'They were stored already.'];
    return <p class="sent ok">✓ {entries.length > 1 ? many : one}</p>;
  }
  return (
    <div class="again wrap">
      <button disabled={isSending} onClick={() => onResend(left.map(({ seq }) => seq))}>
        {isSending ? 'Sending …' : left.length > 1 ? `Send ${left.length} again` : 'Send again'}
      </button>
      {stored.length > 0 && <span class="sent ok">✓ {stored.length} stored</span>}
      {all.includes('failed') && <span class="wrong">The service did not answer.</span>}
      {typeof refusedAgain === 'object' && (
        <span class="wrong">
          Refused again: <Message of={refusedAgain.message ?? ''} />
        </span>
      )}
    </div>
  );
};
