import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  sentenceOf,
  stationOf,
  tallyOf,
  verdictOf,
  type Call,
  type Station,
  type Tally,
} from '../calls.js';
import type { Demo } from '../demo.js';
import { createDots, type Dot } from '../dots.js';
import { SCENES } from '../scenes.js';
import { lengthOf, reasonOf } from '../words.js';
import type { ViewProps } from './app.js';

const TONES: Readonly<Record<Station, Dot['tone']>> = {
  ...{ page: 'called', outbox: 'waiting', wire: 'air', service: 'stored' },
};

/** A record that is stored twice is two dots. */
const dotsOf = (call: Call, readAt: number): Dot[] => {
  const station = stationOf(call);
  const verdict = verdictOf(call, readAt);
  const isBad = verdict === 'dropped' || verdict === 'lost' || verdict === 'twice';
  const tone = isBad ? 'bad' : verdict === 'unknown' ? 'odd' : TONES[station];
  const again = call.rows.slice(1).map((_, n) => ({ id: `${call.id} ${n}`, station, tone }));
  return [{ id: call.id, station, tone }, ...again];
};

export const Stage = ({ demo, director }: ViewProps) => {
  const { tour } = director.playing();
  const readAt = demo.service.readAt();
  const calls = demo.calls.all();
  const tally = tallyOf(calls, readAt);
  return (
    <section class="card stage" aria-labelledby="sentence">
      <div class="say">
        <Sentence tally={tally} />
        <button
          type="button"
          class={`tour${tour ? '' : ' primary'}`}
          onClick={() => void (tour ? director.stop() : director.tour())}
        >
          {tour ? 'Stop the tour' : 'Take the tour'}
        </button>
      </div>
      <Way demo={demo} calls={calls} />
      <Caption director={director} />
      <ReasonView demo={demo} />
    </section>
  );
};

/** A reader of the screen hears the sentence when it has come to rest. */
const REST_MS = 1_500;

const Sentence = ({ tally }: { tally: Tally }) => {
  const sentence = sentenceOf(tally);
  const { called, lost, twice } = tally;
  const wrong = `${lost} lost · ${twice} twice`;
  const [said, say] = useState('');
  const isAtRest = called > 0;
  useEffect(() => {
    if (!isAtRest) return undefined;
    const timer = setTimeout(() => say(`${sentence}. ${wrong}.`), REST_MS);
    return () => clearTimeout(timer);
  }, [sentence, wrong, isAtRest]);
  return (
    <>
      <h2 id="sentence">{sentence}</h2>
      <p class="wrongs">
        <b class={lost + twice ? 'wrong' : 'right'}>{wrong}</b>
        <span class="soft"> · counted in the service’s own rows</span>
      </p>
      <p class="sr-only" role="status">
        {said}
      </p>
    </>
  );
};

const countsOf = (calls: readonly Call[]): Record<Station, number> => {
  const counts = { page: calls.length, outbox: 0, wire: 0, service: 0 };
  for (const call of calls) {
    const station = stationOf(call);
    if (station === 'service') counts.service += call.rows.length;
    else if (station !== 'page') counts[station] += call.fate.kind === 'dropped' ? 0 : 1;
  }
  return counts;
};

/** The last answers: `503 ×6 · 200 ×2`. */
const runsOf = (answers: readonly number[]): string => {
  const runs: { status: number; times: number }[] = [];
  for (const status of answers) {
    const last = runs.at(-1);
    if (last?.status === status) last.times++;
    else runs.push({ status, times: 1 });
  }
  const words = runs.slice(-2).map(({ status, times }) => `${status || 'no answer'} ×${times}`);
  return words.join(' · ');
};

interface StationProps {
  name: Station;
  title: string;
  words: ComponentChildren;
  count: number;
  children?: ComponentChildren;
}

const StationView = ({ name, title, words, count, children }: StationProps) => (
  <li class={`station ${name}`}>
    <h3>
      {title} <b>{count}</b>
    </h3>
    <small>{words}</small>
    {children ?? <div class="yard" data-yard={name} />}
  </li>
);

const Way = ({ demo, calls }: { demo: Demo; calls: readonly Call[] }) => {
  const way = useRef<HTMLOListElement>(null);
  const dots = useRef<ReturnType<typeof createDots>>(undefined);
  const readAt = demo.service.readAt();
  useEffect(() => {
    dots.current = createDots(way.current!);
    return () => dots.current?.end();
  }, []);
  useEffect(() => dots.current?.show(calls.flatMap((call) => dotsOf(call, readAt))));

  const counts = countsOf(calls);
  const answers = runsOf(demo.answers());
  const { isRelay } = demo.setup;
  return (
    <ol class="way" ref={way}>
      <StationView name="page" title="Page" words="calls to event()" count={counts.page}>
        <TabView demo={demo} />
      </StationView>
      <StationView
        {...{ name: 'outbox', title: 'Outbox', count: counts.outbox }}
        words="IndexedDB: survives the tab"
      />
      <StationView
        {...{ name: 'wire', title: 'Wire', count: counts.wire }}
        words={answers || (isRelay ? 'fetch(), by a relay' : 'fetch()')}
      />
      <StationView
        {...{ name: 'service', title: 'Service', count: counts.service }}
        words="rows in its database"
      />
    </ol>
  );
};

const STATE_WORDS: Readonly<Record<string, string>> = { crashed: 'Crashed', closed: '' };

const TabView = ({ demo }: { demo: Demo }) => {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current!.append(demo.tabs.place), [demo]);
  const state = demo.tabs.state();
  const count = demo.tabs.count();
  return (
    <div class={`browser ${state}${demo.tabs.isOffline() ? ' offline' : ''}`}>
      <div class="bar" aria-hidden="true">
        {Array.from({ length: Math.max(1, count) }, () => (
          <span />
        ))}
      </div>
      <div class="view" ref={place} />
      {STATE_WORDS[state] && <p class="face">{STATE_WORDS[state]}</p>}
      <div class="yard" data-yard="page" />
    </div>
  );
};

/** What is played, and what the last scene came to. */
const Caption = ({ director }: Pick<ViewProps, 'director'>) => {
  const { id, tour } = director.playing();
  const last = SCENES.find((scene) => scene.id === (id ?? director.last()));
  const { tone, words } = last ? director.result(last.id) : { tone: '', words: '' };
  return (
    <p class="caption" role="status">
      {tour && (
        <span class="steps" aria-hidden="true">
          {Array.from({ length: tour.of }, (_, n) => (
            <i class={n < tour.step ? 'done' : ''} />
          ))}
        </span>
      )}
      {!last && <span>Play a scene below, or press a button in the page.</span>}
      {last && <span>{tour?.words ?? `${last.title}: ${last.words}.`}</span>}
      {last && !id && tone !== 'ready' && <b class={tone}>{words}</b>}
    </p>
  );
};

/** The wait that is being counted down: when it began, and when it ends. */
const useWait = (next: number | undefined, now: number): number => {
  const began = useRef<{ next: number; at: number }>(undefined);
  if (next === undefined) return 0;
  if (began.current?.next !== next) began.current = { next, at: now };
  const { at } = began.current;
  return next > at ? Math.min(1, (now - at) / (next - at)) : 1;
};

const ReasonView = ({ demo }: { demo: Demo }) => {
  const now = Date.now();
  const status = demo.status();
  const { tone, words, nextMs } = reasonOf({
    ...{ tab: demo.tabs.state(), status, answers: demo.answers(), now },
    ...{ isReached: demo.service.isReached(), fault: demo.fault() },
  });
  const share = useWait(nextMs === undefined ? undefined : status?.nextAttempt, now);
  const isTrouble = !!demo.fault() || nextMs !== undefined;
  return (
    <div class={`reason ${tone}`}>
      <span class="dot" aria-hidden="true" />
      <p>
        {words}
        {nextMs !== undefined && (
          <>
            {' '}
            Next attempt in <b>{lengthOf(nextMs)}</b>.
          </>
        )}
      </p>
      <progress aria-hidden="true" value={share} hidden={nextMs === undefined} />
      <button type="button" hidden={!isTrouble} onClick={() => void demo.heal(true)}>
        Heal the service
      </button>
    </div>
  );
};
