import { useMemo, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { Field } from '../../../../show/field.js';
import { Text } from '../../../../show/text.js';
import { clockTime, countOf, inDigits, lengthInWords } from '../../../../show/times.js';
import { DELAY_WORDS, refusalWords } from '../../../../show/words.js';
import type { TargetDelay } from '../../../exports/delays.js';
import type { Hours, Outage, RefusedCount } from '../../../store/port.js';
import type { Feed, FeedState } from '../state/feed.js';
import { reasonsOf } from '../state/refused-groups.js';
import { NO_FILTERS, withHidden, withOnly, type Filters } from '../state/filters.js';
import {
  changeOf,
  CLASSES,
  overviewOf,
  RANGES,
  spanOf,
  sumsOf,
  type Overview,
  type Range,
  type Series,
  type Span,
} from '../state/overview.js';
import { readHours, readOutages, readPages, readRefusedHours } from '../state/service.js';
import { CountList, PERCENT, Share } from './count-list.js';
import { HealthStrip } from './health-strip.js';
import { isBehind } from '../state/health.js';
import { Message } from './message.js';
import { Outages, withOpen } from './outages.js';
import { useRead } from './hooks.js';
import { EventPanel, Pages, VIEWS } from './event-panel.js';
import { nameOfSeries, StackedBars } from './stacked-bars.js';

const RANGE_WORDS: Readonly<Record<Range, readonly [button: string, title: string]>> = {
  '10m': ['10 min', 'the last 10 minutes'],
  '24h': ['24 h', 'the last 24 hours'],
  '7d': ['7 d', 'the last 7 days'],
  '30d': ['30 d', 'the last 30 days'],
};
/** The numbers are read anew this often. */
const EVERY_MS: Readonly<Record<Range, number>> = {
  ...{ '10m': 5_000, '24h': 15_000, '7d': 60_000, '30d': 60_000 },
};
/** Pages of 1,000 rows that are read for ten minutes. Beyond them the bars begin later. */
const MAX_PAGES = 10;

interface Loaded {
  sums: Hours;
  refused: readonly RefusedCount[];
  outages: readonly Outage[];
  now: number;
  span: Span;
  range: Range;
  /** Nothing is known of the time before this. */
  since?: number;
}

const sumNewest = async (
  query: Record<string, string>,
  slotMs: number,
): Promise<Pick<Loaded, 'sums' | 'since'>> => {
  const { rows, isAll } = await readPages(query, MAX_PAGES);
  const known = isAll ? {} : { since: Date.parse(rows.at(-1)!.received_at) };
  return { sums: sumsOf(rows, slotMs), ...known };
};

const load = async (
  range: Range,
  { project, onlyProject }: { project: string; onlyProject: string | undefined },
  now: number,
): Promise<Loaded> => {
  const span = spanOf(range, now);
  const iso = (ms: number): string => new Date(ms).toISOString();
  const [start, end] = [iso(span.bounds[0]!), iso(span.bounds.at(-1)!)];
  const ofProject = project && { project };
  const since = range === '10m' ? iso(now) : start;
  const query = { from: iso(span.bounds[0]! - span.backMs), ...ofProject };
  const [refused, outages, counted] = await Promise.all([
    readRefusedHours({ from: since, to: iso(now), ...ofProject }),
    // Whoever may read one project alone is not told of these.
    onlyProject === undefined ? readOutages({ from: start, to: end }) : [],
    range === '10m'
      ? sumNewest(query, span.slotMs)
      : readHours({ ...query, to: end }).then((sums) => ({ sums })),
  ]);
  return { range, span, now, refused, outages, ...counted };
};

/** Reads anew from time to time, while the tab is seen. */
const whileSeen =
  (everyMs: number) =>
  (read: () => void): (() => void) => {
    const look = (): void => {
      if (!document.hidden) read();
    };
    const timer = setInterval(look, everyMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  };

const HOUR = new Intl.DateTimeFormat(undefined, {
  ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
});
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const WEEKDAY = new Intl.DateTimeFormat(undefined, {
  ...{ weekday: 'short', hour: '2-digit', hourCycle: 'h23' },
});

const timeIn = ({ range, span }: Pick<Loaded, 'range' | 'span'>, bar: number): string => {
  const at = span.bounds[bar]!;
  if (range === '10m') return clockTime(at);
  return (range === '24h' ? HOUR : range === '7d' ? WEEKDAY : DAY).format(at);
};

/** How many rows there were, which, and how they came. */
export const OverviewView = ({ feed, state }: { feed: Feed; state: FeedState }) => {
  const [range, choose] = useState<Range>('24h');
  const [project, chooseProject] = useState('');
  const { onlyProject } = state;
  const {
    answer: loaded,
    isFailed,
    isNew,
  } = useRead(
    () => load(range, { project, onlyProject }, feed.now()),
    JSON.stringify([range, project, onlyProject]),
    whileSeen(EVERY_MS[range]),
  );
  const overview = useMemo(
    () => loaded && overviewOf(loaded.sums, loaded.span, loaded.now),
    [loaded],
  );
  const { projects } = state.seen;
  return (
    <section class={`overview${isNew ? '' : ' stale'}`} aria-labelledby="overview-title">
      <HealthStrip feed={feed} state={state} />
      <div class="overview-head wrap">
        <h2 id="overview-title">What arrived in {RANGE_WORDS[range][1]}</h2>
        {projects.length > 1 && (
          <label class="field">
            <span class="sr-only">Project</span>
            <select onChange={({ currentTarget }) => chooseProject(currentTarget.value)}>
              <option value="">All projects</option>
              {projects.map((name) => (
                <option value={name} selected={name === project}>
                  {name.slice(0, 60)}
                </option>
              ))}
            </select>
          </label>
        )}
        <div class="segments" role="group" aria-label="Range of time">
          {RANGES.map((one) => (
            <button class="small" aria-pressed={one === range} onClick={() => choose(one)}>
              {RANGE_WORDS[one][0]}
            </button>
          ))}
        </div>
      </div>
      {isFailed && (
        <p class="wrong" role="status">
          The service gives no numbers right now. They are asked for again.
        </p>
      )}
      {loaded && overview ? (
        <Cards {...{ feed, state, loaded, overview, project }} />
      ) : (
        !isFailed && <p class="soft">Reading the numbers …</p>
      )}
    </section>
  );
};

interface CardsProps {
  feed: Feed;
  state: FeedState;
  loaded: Loaded;
  overview: Overview;
  project: string;
}

const Cards = (props: CardsProps) => {
  const { feed, state, loaded, overview, project } = props;
  const { since, sums, range } = loaded;
  const outages = withOpen(loaded.outages, state.health, loaded);
  const { bounds } = overview.span;
  const ofSeries = (filters: Filters, series: Series | undefined): Filters => {
    if (series?.kind === 'event') return withOnly(filters, series.name);
    if (series?.kind === 'identify') return { ...filters, type: 'identify' };
    if (!series) return filters;
    const named = overview.stacked.filter(({ kind }) => kind === 'event');
    const others: Filters = { ...filters, type: 'event' };
    return named.reduce<Filters>((all, { name }) => withHidden(all, name), others);
  };
  const show = (from: number, to: number | undefined, series?: Series): void => {
    const iso = (ms: number) => new Date(ms).toISOString();
    const filters = { ...NO_FILTERS, project, from: iso(from), to: to ? iso(to) : '' };
    feed.filter(ofSeries(filters, series));
  };
  // What is counted by hour has no ten minutes.
  const hours: Range = range === '10m' ? '24h' : range;
  const span = hours === range ? overview.span : spanOf(hours, loaded.now);
  const inHours = {
    ...{ span, now: loaded.now, range: RANGE_WORDS[hours][1] },
    timeOf: (bar: number) => timeIn({ range: hours, span }, bar),
  };
  return (
    <div class="cards columns">
      <Numbers overview={overview} />
      <div class="card trend">
        <StackedBars
          overview={overview}
          timeOf={(bar) => timeIn(loaded, bar)}
          onPress={(bar, series) => show(bounds[bar]!, bounds[bar + 1], series)}
          outages={outages.map(({ from, to }) => [Date.parse(from), Date.parse(to)] as const)}
        />
        <Outages outages={outages} now={loaded.now} />
        {since !== undefined && (
          <p class="late">
            Rows are too many for all of this time: the bars begin at {clockTime(since)}.
          </p>
        )}
        {sums.is_behind && range !== '10m' && (
          <p class="late">Many rows are still being summed, so the numbers may be too low.</p>
        )}
      </div>
      <Ranking
        {...{ overview, opened: state.panel }}
        onPress={(series) => {
          if (series.kind !== 'event') return show(bounds[0]!, undefined, series);
          feed.choose('overview', undefined, series.name === state.panel ? undefined : series.name);
        }}
        panel={(event, hue) => (
          <EventPanel key={event} {...{ feed, event, hue, project, ...inHours }} />
        )}
      />
      <div class="how">
        <Delays {...props} />
        <RefusedReasons {...props} />
        <Targets targets={state.health?.targets ?? []} />
      </div>
      {overview.ranking.some(({ name, total }) => name === VIEWS && total > 0) && (
        <Pages {...{ feed, project, ...inHours }} />
      )}
    </div>
  );
};

const ROUND_PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 });

/** `▲ 12%`, as counted over whole hours on both sides; nothing of what has hardly changed. */
const Change = ({ of, words = '' }: { of: number | undefined; words?: string }) => {
  if (of === undefined) return <small class="soft">{words && 'nothing before'}</small>;
  if (Math.abs(of) <= 0.005) return <small class="soft">{words && 'as many as before'}</small>;
  const [sign, more, tone] = of > 0 ? ['▲', 'more', 'ok'] : ['▼', 'less', 'wrong'];
  return (
    <small class={`change ${tone}`}>
      <span aria-hidden="true">{sign} </span>
      {ROUND_PERCENT.format(Math.abs(of))} <span class={words ? '' : 'sr-only'}>{more}</span>
      {words}
    </small>
  );
};

const Figure = ({
  title,
  value,
  children,
}: {
  title: string;
  value: string;
  children: ComponentChildren;
}) => (
  <Field name={title}>
    <b>{value}</b>
    {children}
  </Field>
);

const Numbers = ({ overview: { totals, whole, before, ranking } }: { overview: Overview }) => {
  const later = totals.in_1m + totals.in_1h + totals.later;
  const called = (of: Overview['totals']): number => of.rows - of.from_server;
  const updates = ranking.find(({ kind }) => kind === 'identify');
  const share = (of: Overview['totals']): string => PERCENT.format(of.in_2s / called(of));
  return (
    <dl class="card numbers">
      <Figure title="Rows" value={inDigits(totals.rows)}>
        <Change of={changeOf(whole.rows, before.rows)} words=" than the time before" />
      </Figure>
      <Figure title="Updates of profiles" value={inDigits(updates?.total ?? 0)}>
        <Change of={changeOf(updates?.whole ?? 0, updates?.before ?? 0)} words=" than before" />
      </Figure>
      <Figure title="Here within 2 s of the call" value={called(totals) ? share(totals) : '–'}>
        <small class="soft">{called(before) ? `${share(before)} the time before` : ''}</small>
      </Figure>
      <Figure title="Came later than that" value={inDigits(later)}>
        <small class="soft">of {inDigits(called(totals))} that browsers have called</small>
      </Figure>
    </dl>
  );
};

const MAX_RANKED = 12;

const Ranking = ({
  overview: { ranking },
  opened,
  onPress,
  panel,
}: {
  overview: Overview;
  /** The event whose panel is open. */
  opened: string | undefined;
  onPress: (series: Series) => void;
  panel: (event: string, hue: Series['hue']) => ComponentChildren;
}) => {
  const [isAll, showAll] = useState(false);
  const shown = isAll ? ranking : ranking.slice(0, MAX_RANKED);
  const most = Math.max(...ranking.map(({ total }) => total));
  const isOpened = ({ kind, name }: Series) => kind === 'event' && name === opened;
  const isAbove = opened !== undefined && !shown.some(isOpened);
  return (
    <div class="card ranking">
      <h3>Events</h3>
      <p class="soft">Against the time before. Press one for its users, days and tags.</p>
      {isAbove && panel(opened, undefined)}
      {!ranking.length && <p>Nothing arrived.</p>}
      <ol>
        {shown.map((series) => (
          <>
            <li data-hue={series.hue}>
              <Share of={series.total} most={most} />
              <i class="hue" />
              <button
                class="value"
                aria-expanded={series.kind === 'event' ? isOpened(series) : undefined}
                onClick={() => onPress(series)}
              >
                <Text of={nameOfSeries(series)} max={60} />
              </button>
              <Sparkline bars={series.bars} />
              <b>{inDigits(series.total)}</b>
              <Change of={changeOf(series.whole, series.before)} />
            </li>
            {isOpened(series) && <li class="opened">{panel(series.name, series.hue)}</li>}
          </>
        ))}
      </ol>
      {ranking.length > MAX_RANKED && (
        <button class="link" aria-expanded={isAll} onClick={() => showAll(!isAll)}>
          {isAll ? 'Show fewer' : `Show all ${ranking.length}`}
        </button>
      )}
    </div>
  );
};

const SPARK_HEIGHT = 20;
const Sparkline = ({ bars }: { bars: readonly number[] }) => {
  const most = Math.max(1, ...bars);
  const d = bars
    .map((count, at) => {
      const y = SPARK_HEIGHT - 1 - (Math.max(0, count) / most) * (SPARK_HEIGHT - 2);
      return `${at ? 'L' : 'M'}${at} ${y.toFixed(1)}`;
    })
    .join('');
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${Math.max(1, bars.length - 1)} ${SPARK_HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={d} />
    </svg>
  );
};

const Delays = ({ overview: { totals } }: CardsProps) => (
  <div class="card">
    <h3>How they came</h3>
    <p class="soft">By the time from the call in the browser to the arrival</p>
    <CountList
      all={totals.rows}
      items={CLASSES.filter((kind) => kind !== 'from_server' || totals[kind]).map((kind) => ({
        ...{ name: DELAY_WORDS[kind], count: totals[kind], kind },
      }))}
    />
    {totals.repeats > 0 && (
      <p class="soft">
        {countOf(totals.repeats, 'record')} came again, recognised by the record id.
      </p>
    )}
  </div>
);

/** How far exports and notifications are behind the rows, and why. */
const Targets = ({ targets }: { targets: readonly TargetDelay[] }) =>
  targets.length > 0 && (
    <div class="card targets">
      <h3>Exports and messages</h3>
      <ul class="small">
        {targets.map((target) => {
          const { name, behind, delay_ms, dead, message } = target;
          return (
            <li>
              <b>
                <Text of={name} />
              </b>{' '}
              {behind ? (
                <span class={isBehind(target) ? 'late' : 'soft'}>
                  {countOf(behind, 'row')} and {lengthInWords(delay_ms)} behind
                </span>
              ) : (
                <span>
                  <span aria-hidden="true">✓ </span>has all rows
                </span>
              )}
              {dead > 0 && <span class="late">, {inDigits(dead)} refused there</span>}
              {message !== undefined && (
                <small class="soft">
                  <Message of={message} />
                </small>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );

/** Refused answers by reason. They are counted by the hour. */
const RefusedReasons = ({ feed, loaded: { refused, range } }: CardsProps) => {
  const all = reasonsOf(refused);
  const sum = all.reduce((total, [, count]) => total + count, 0);
  return (
    <div class="card">
      <h3>Refused</h3>
      <p class="soft">
        {countOf(sum, 'answer')} refused a request or record in{' '}
        {range === '10m' ? 'this hour' : RANGE_WORDS[range][1]}
      </p>
      {all.length > 0 && (
        <>
          <CountList
            all={sum}
            items={all.map(([reason, count]) => ({
              ...{ name: refusalWords(reason).title, count, kind: 'refused' },
            }))}
          />
          <button class="link" onClick={() => feed.choose('refused')}>
            See what was refused
          </button>
        </>
      )}
    </div>
  );
};
