import { useEffect, useRef } from 'preact/hooks';
import { lengthInWords } from '../../../src/show/times.js';
import { LANES, verdictOf, type Lane, type Tally } from '../clicks.js';
import type { Demo } from '../demo.js';
import { obstacleOf, restOf, sentenceOf } from '../words.js';
import type { ViewProps } from './app.js';

/** The same clicks on two lanes, the page that makes them, and a line that says what happens. */
export const Stage = ({ demo, director }: ViewProps) => (
  <section class="stage" aria-label="Stage">
    <Line demo={demo} director={director} />
    <Page demo={demo} />
    {LANES.map((lane) => (
      <LaneView key={lane} {...{ demo, director, lane }} />
    ))}
    <p class="key beside soft small" aria-hidden="true">
      <i data-verdict="stored" /> stored
      <i data-verdict="waiting" /> on the way
      <i data-verdict="lost" /> gone for ever
    </p>
  </section>
);

/** The wait that is being counted down: which share of it is over. */
const useWait = (next: number | undefined, now: number): number => {
  const began = useRef<{ next: number; at: number }>(undefined);
  if (next === undefined) return 0;
  if (began.current?.next !== next) began.current = { next, at: now };
  const { at } = began.current;
  return next > at ? Math.min(1, (now - at) / (next - at)) : 1;
};

const Line = ({ demo, director }: ViewProps) => {
  const now = Date.now();
  const calls = demo.clicks().length;
  const [without, withIt] = LANES.map((lane) => demo.tally(lane)) as [Tally, Tally];
  const status = demo.status();
  const next = withIt.waiting ? status?.nextAttempt : undefined;
  const share = useWait(next, now);
  const isBroken = demo.service.isBroken() || demo.tabs.isOffline();
  const obstacle = obstacleOf({
    ...{ tab: demo.tabs.state(), status, isReached: demo.service.isReached() },
  });
  const idle = calls ? sentenceOf(calls, withIt, without) : 'All is well. Break it.';
  return (
    <div class={`line card beside${isBroken || obstacle ? ' broken' : ''}`}>
      <p id="line" role="status">
        {director.playing()?.words ?? obstacle ?? idle}
      </p>
      <span class="next" hidden={next === undefined}>
        Next try in <b>{lengthInWords(Math.max(0, (next ?? now) - now))}</b>
        <i style={{ '--share': share }} />
      </span>
      <button type="button" class="primary" hidden={!isBroken} onClick={() => void demo.heal()}>
        Heal
      </button>
    </div>
  );
};

const TITLES: Readonly<Record<Lane, [title: string, words: string]>> = {
  without: ['Without', 'a bare fetch, with keepalive'],
  with: ['With the outbox', 'kept on disk, tried again until it is stored'],
};
/** Of more clicks, the latest are drawn. */
const MOST_DOTS = 400;
const STILL = matchMedia('(prefers-reduced-motion: reduce)');

const LaneView = ({ demo, director, lane }: ViewProps & { lane: Lane }) => {
  const [title, words] = TITLES[lane];
  const tally = demo.tally(lane);
  const readAt = demo.service.readAt();
  const clicks = demo.clicks();
  // Where motion is unwelcome, the tour shows its numbers, and its dots when it has ended.
  const isHeldBack = STILL.matches && director.playing()?.isTour;
  return (
    <section class={`lane card ${lane}`} aria-labelledby={`lane-${lane}`}>
      <h2 id={`lane-${lane}`}>{title}</h2>
      <p class="how soft small">{words}</p>
      <div class="dots" aria-hidden="true">
        {clicks.slice(isHeldBack ? clicks.length : -MOST_DOTS).map((click) => (
          <i key={click.id} data-verdict={verdictOf(click, lane, readAt)} />
        ))}
      </div>
      <p class={`lost ${tally.lost ? 'wrong' : lane === 'with' ? 'ok' : 'soft'}`}>
        {tally.lost} lost
      </p>
      <p class="rest soft small">{clicks.length ? restOf(tally) : 'no clicks yet'}</p>
    </section>
  );
};

const FACES: Readonly<Record<string, string>> = { crashed: 'Crashed', closed: 'Closed' };

/** The page in its frame. It is never taken away: a frame that moves loads anew. */
const Page = ({ demo }: { demo: Demo }) => {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current!.append(demo.tabs.place), [demo]);
  const state = demo.tabs.state();
  const face = demo.tabs.isOffline() ? 'No network' : FACES[state];
  return (
    <div class="browser card">
      <div class="bar" aria-hidden="true">
        {Array.from({ length: Math.max(1, demo.tabs.count()) }, () => (
          <span />
        ))}
      </div>
      <div ref={place} />
      {face && <p class="face">{face}</p>}
    </div>
  );
};
