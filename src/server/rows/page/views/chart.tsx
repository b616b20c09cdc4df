import { useState } from 'preact/hooks';
import type { TargetedPointerEvent } from 'preact';
import type { Feed } from '../state/feed.js';
import { BAR_S, BARS, type Rate } from '../state/rate.js';
import { clockTime, countOf } from '../../../../show/times.js';
import { useNow } from './hooks.js';
import { rateInWords } from './rate-words.js';
import { still } from './still.js';

const HEIGHT = 40;

interface ChartProps {
  feed: Feed;
  rate: Rate;
  isFiltered: boolean;
}

/** Records a second over ten minutes, as bars of five seconds. */
export const Chart = still(({ feed, rate, isFiltered }: ChartProps) => {
  const now = useNow(feed.now);
  const [pointed, point] = useState<number | undefined>();
  const bars = rate.bars(now);
  const known = bars.filter((count) => count !== undefined);
  const total = known.reduce((sum, count) => sum + count, 0);
  const unknown = bars.length - known.length;
  const current = rateInWords(rate.current(now));
  const span = unknown ? `since ${clockTime(rate.since)}` : 'in 10 minutes';
  const summary = `now ${current} · peak ${rateInWords(rate.peak(now))} · ${countOf(total, 'record')} ${span}`;
  const title = `Records a second${isFiltered ? ', with these filters' : ''}`;

  const onPointerMove = (event: TargetedPointerEvent<SVGSVGElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    point(Math.min(BARS - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * BARS))));
  };
  const atPointed = (): string => {
    const count = bars[pointed!];
    const from = (Math.floor(now / 1000 / BAR_S) + 1 - (BARS - pointed!)) * BAR_S * 1000;
    const words =
      count === undefined ? 'before this page' : `${rateInWords(count / BAR_S)} a second`;
    return `${clockTime(from)} · ${words}`;
  };

  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <span class="soft">{pointed === undefined ? summary : atPointed()}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${BARS} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} over the last 10 minutes: ${summary}`}
        onPointerMove={onPointerMove}
        onPointerLeave={() => point(undefined)}
      >
        {unknown > 0 && <rect class="unknown" width={unknown} height={HEIGHT} />}
        {pointed !== undefined && <rect class="pointed" x={pointed} width="1" height={HEIGHT} />}
        <path d={pathOf(bars, Math.max(...known))} />
      </svg>
      <div class="axis soft" aria-hidden="true">
        <span>10 min ago</span>
        <span>5 min</span>
        <span>now</span>
      </div>
    </figure>
  );
});

/** One shape for all bars. A bar of a single record can be seen beside one of thousands. */
const pathOf = (bars: readonly (number | undefined)[], highest: number): string =>
  bars
    .map((count, at) => {
      if (!count) return '';
      const height = Math.max(2, (count / highest) * HEIGHT);
      return `M${at + 0.12} ${HEIGHT}V${(HEIGHT - height).toFixed(2)}h.76V${HEIGHT}z`;
    })
    .join('');
