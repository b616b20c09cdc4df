import type { ComponentChildren } from 'preact';
import { Text } from '../../../../show/text.js';
import { agoInWords, countOf, inDigits, lengthInWords } from '../../../../show/times.js';
import type { TargetDelay } from '../../../exports/delays.js';
import type { Feed, FeedState } from '../state/feed.js';
import { hourlyInWords, roomInWords, type HealthWord } from '../state/health.js';
import { useNow } from './hooks.js';
import { momentInWords } from './moment.js';

type Tone = 'ok' | 'late' | 'wrong' | 'soft';
const SIGNS: Readonly<Record<Tone, string>> = { ok: '✓', late: '!', wrong: '✕', soft: '–' };

/** Files are closed every five minutes, and a message may wait for a minute. Beyond this something is wrong. */
const LONG_MS = 600_000;
export const isBehind = ({ message, delay_ms }: TargetDelay): boolean =>
  message !== undefined || delay_ms > LONG_MS;

interface ItemProps {
  tone: Tone;
  word: string;
  number: ComponentChildren;
  usual: ComponentChildren;
}

const Item = ({ tone, word, number, usual }: ItemProps) => (
  <li class={tone}>
    <b>
      <span aria-hidden="true">{SIGNS[tone]} </span>
      {word}
    </b>
    <span>{number}</span>
    <small>{usual}</small>
  </li>
);

interface PartProps {
  health: HealthWord;
  now: number;
}

const MINUTE_MS = 60_000;
const agoOf = (iso: string, now: number): string => {
  const ms = Math.max(0, now - Date.parse(iso));
  return ms < MINUTE_MS ? `${Math.floor(ms / 1_000)} s ago` : agoInWords(ms);
};

/** Less than this part of a disk is little. */
const LITTLE = 0.02;

const Storing = ({ health: { storing }, now }: PartProps) => {
  const { state, since, last, problem, room } = storing;
  const free = room && roomInWords(room);
  if (state === 'failing')
    return (
      <Item
        {...{
          tone: 'wrong',
          word: 'Not storing',
          usual: problem && <Text of={problem} max={80} />,
        }}
        number={since && `since ${momentInWords(since, now)}`}
      />
    );
  if (state === 'untried')
    return (
      <Item
        {...{ tone: 'soft', word: 'Storing', usual: free }}
        number={since && `no row was tried since ${momentInWords(since, now)}`}
      />
    );
  const isLittle = room !== undefined && room.free < room.size * LITTLE;
  return (
    <Item
      {...{ tone: isLittle ? 'late' : 'ok', word: 'Storing', usual: free }}
      number={last && `last write ${agoOf(last, now)}`}
    />
  );
};

const Arriving = ({ health: { arriving }, now }: PartProps) => {
  const { state, last, usual } = arriving;
  const number = last ? `last row ${agoOf(last, now)}` : 'no row yet';
  if (state === 'learning' || state === 'unknown')
    return (
      <Item
        {...{ tone: 'soft', word: 'Arriving', number }}
        usual={state === 'learning' ? 'learning what is usual, for a week' : 'not known yet'}
      />
    );
  const words = usual === undefined ? '' : `usual at this hour: ${hourlyInWords(usual)}`;
  return state === 'silent' ? (
    <Item {...{ tone: 'late', word: 'Silent', number, usual: words }} />
  ) : (
    <Item {...{ tone: 'ok', word: 'Arriving', number, usual: words }} />
  );
};

const Refused = ({ health: { refused }, now }: PartProps) => {
  const { state, last_hour, since, usual } = refused!;
  const time = since ? `since ${momentInWords(since, now)}` : 'in the last hour';
  const isMany = state === 'many';
  return (
    <Item
      {...{ tone: isMany ? 'late' : 'ok', word: isMany ? 'Many refused' : 'Refused' }}
      number={`${inDigits(last_hour)} ${time}`}
      usual={usual === undefined ? '' : `usual: ${inDigits(usual)} an hour`}
    />
  );
};

const SentOn = ({ health: { targets = [] } }: PartProps) => {
  if (!targets.length)
    return (
      <Item {...{ tone: 'soft', word: 'Sent on', number: 'nowhere', usual: 'no target is set' }} />
    );
  const [worst, ...others] = [...targets].sort(
    (a, b) => Number(isBehind(b)) - Number(isBehind(a)) || b.delay_ms - a.delay_ms,
  );
  const { name, behind, delay_ms, message } = worst!;
  const isWrong = isBehind(worst!);
  const rows = behind
    ? `${countOf(behind, 'row')}, ${lengthInWords(delay_ms)} behind`
    : 'has all rows';
  const rest = others.length ? `, and ${countOf(others.length, 'other')}` : '';
  return (
    <Item
      {...{ tone: isWrong ? 'late' : 'ok', word: isWrong ? 'Behind' : 'Sent on' }}
      number={
        <>
          <Text of={name} max={40} />: {rows}
        </>
      }
      usual={
        message === undefined ? (
          `${countOf(targets.length, 'target')}`
        ) : (
          <Text of={message + rest} max={80} />
        )
      }
    />
  );
};

/** Whether anything is wrong: each with a word, a sign, a number, and what is usual. */
export const HealthStrip = ({ feed, state }: { feed: Feed; state: FeedState }) => {
  const now = useNow(feed.now);
  const { health, connection } = state;
  if (!health)
    return connection.kind === 'lost' || connection.kind === 'silent' ? (
      <ul class="strip">
        <Item
          {...{ tone: 'wrong', word: 'No answer', usual: 'so nothing is known of it' }}
          number="from the server"
        />
      </ul>
    ) : null;
  const parts = { health, now };
  return (
    <>
      <ul class="strip" aria-label="Whether anything is wrong">
        <Storing {...parts} />
        <Arriving {...parts} />
        {health.refused && <Refused {...parts} />}
        {health.targets && <SentOn {...parts} />}
      </ul>
      <p class="speaker soft small">
        This is what the process <Text of={health.process} max={80} /> sees.
      </p>
    </>
  );
};
