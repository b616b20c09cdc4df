import { useMemo, useState } from 'preact/hooks';
import { Text } from '../../../../show/text.js';
import { countOf, inDigits } from '../../../../show/times.js';
import type { Breakdown } from '../../../store/port.js';
import type { Feed } from '../state/feed.js';
import { NO_FILTERS, withTag, type Filters } from '../state/filters.js';
import { overviewOf, type Series, type Span } from '../state/overview.js';
import { useAnswer } from './hooks.js';
import { backTo } from './searching.js';
import { StackedBars } from './stacked-bars.js';
import { TagValuesList } from './tag-values.js';

/** The rows of an event in a time of the overview, and with some of their tags. */
interface Asked {
  event: string;
  project: string;
  span: Span;
  tags: readonly string[];
}

const queryOf = ({ event, project, span, tags }: Asked): URLSearchParams => {
  const query = new URLSearchParams({ event, from: new Date(span.bounds[0]!).toISOString() });
  if (project) query.set('project', project);
  for (const tag of tags) query.append('tag', tag);
  return query;
};

const filtersOf = ({ event, project, span }: Asked): Filters => ({
  ...{ ...NO_FILTERS, project, event: [event], from: new Date(span.bounds[0]!).toISOString() },
});

/** Of how many rows users and values are known, if not of all. */
const ofNewest = ({ looked }: Breakdown, now: number): string =>
  looked.is_all ? '' : ` among the newest ${inDigits(looked.rows)} (${backTo(looked, now)})`;

interface PanelProps {
  feed: Feed;
  event: string;
  /** As in the list that it is opened in. */
  hue: Series['hue'];
  project: string;
  /** In words: `the last 30 days` */
  range: string;
  span: Span;
  now: number;
  timeOf: (bar: number) => string;
}

/** One event: how often, by how many users, when, and with which values of a tag. */
export const EventPanel = (props: PanelProps) => {
  const { feed, event, hue, project, range, span, now, timeOf } = props;
  const [chosen, choose] = useState<string | undefined>();
  const asked: Asked = { event, project, span, tags: chosen === undefined ? [] : [chosen] };
  const { answer, isFailed, isNew } = useAnswer<Breakdown>(`counts?${queryOf(asked)}`);
  const overview = useMemo(() => {
    if (!answer) return undefined;
    const rows = answer.hours.map((hour) => hour.rows);
    const hours = answer.hours.map((hour) => ({ ...NO_DELAYS, ...hour }));
    const all = overviewOf({ hours, events: [{ channel: '', event, rows }] }, span, now);
    return { ...all, stacked: all.stacked.map((series) => ({ ...series, hue })) };
  }, [answer]);
  const iso = (bar: number) => new Date(span.bounds[bar]!).toISOString();
  const names = [...new Set([...(answer?.names ?? []), ...asked.tags])];
  const values = isNew ? answer?.tags[0] : undefined;
  return (
    <section class="panel" aria-labelledby="panel-title">
      <header class="wrap">
        <h4 id="panel-title">
          <Text of={event} max={120} />
        </h4>
        <button class="small" onClick={() => feed.filter(filtersOf(asked))}>
          Rows
        </button>
        <button class="small" onClick={() => feed.choose('overview')}>
          Close
        </button>
      </header>
      {isFailed && <p class="wrong">The service gives no numbers of this event right now.</p>}
      {!answer && !isFailed && <p class="soft">Counting …</p>}
      {answer && (
        <>
          <p>
            <b>{inDigits(answer.rows)}</b> in {range}
            {!answer.is_exact && ofNewest(answer, now)}, <b>{countOf(answer.users, 'user')}</b>
            {answer.is_exact && ofNewest(answer, now)}
          </p>
          <StackedBars
            overview={overview!}
            timeOf={timeOf}
            onPress={(bar) =>
              feed.filter({ ...filtersOf(asked), from: iso(bar), to: iso(bar + 1) })
            }
          />
          {names.length > 0 && (
            <>
              <label class="field beside">
                <span>By tag</span>
                <select onChange={({ currentTarget }) => choose(currentTarget.value)}>
                  {names.map((name) => (
                    <option value={name} selected={name === (chosen ?? values?.tag)}>
                      {name.slice(0, 60)}
                    </option>
                  ))}
                </select>
                <span class="soft small">{ofNewest(answer, now)}</span>
              </label>
              {values ? (
                <TagValuesList
                  of={values}
                  rows={answer.looked.rows}
                  onPress={(tag) => feed.filter(withTag(filtersOf(asked), tag))}
                />
              ) : (
                <p class="soft">Counting …</p>
              )}
            </>
          )}
        </>
      )}
    </section>
  );
};

const NO_DELAYS = { repeats: 0, in_2s: 0, in_1m: 0, in_1h: 0, later: 0, from_server: 0 };

/** The event of page views that the snippet captures, and the tags that most people look for first. */
export const VIEWS = 'Page Viewed';
const TAGS = [
  ['path', 'Top pages'],
  ['referrer', 'Referrers'],
  ['utm_campaign', 'Campaigns'],
] as const;

/** Where visitors came from, and what they saw. */
export const Pages = ({
  feed,
  project,
  span,
  now,
}: Pick<PanelProps, 'feed' | 'project' | 'span' | 'now'>) => {
  const asked: Asked = { event: VIEWS, project, span, tags: TAGS.map(([tag]) => tag) };
  const { answer } = useAnswer<Breakdown>(`counts?${queryOf(asked)}`);
  if (!answer?.rows) return null;
  return (
    <div class="card pages">
      <h3>Pages</h3>
      <p class="soft">
        {countOf(answer.rows, 'view')} by {countOf(answer.users, 'user')}
        {ofNewest(answer, now)}. Press a value to see its rows.
      </p>
      <div class="pages-of columns">
        {TAGS.map(([tag, title]) => {
          const of = answer.tags.find((one) => one.tag === tag);
          return (
            <div>
              <h4>{title}</h4>
              {of?.values.length ? (
                <TagValuesList
                  of={of}
                  rows={answer.looked.rows}
                  onPress={(value) => feed.filter(withTag(filtersOf(asked), value))}
                />
              ) : (
                <p class="soft">None.</p>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
};
