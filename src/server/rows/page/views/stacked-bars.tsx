import { useState } from 'preact/hooks';
import type { TargetedPointerEvent } from 'preact';
import { Text } from '../../../../show/text.js';
import { countOf, inDigits } from '../../../../show/times.js';
import type { Overview, Series } from '../state/overview.js';
import { still } from './still.js';

/** Which rows a press asks for: those of a bar, of one series or of all. */
export type Press = (bar: number, series?: Series) => void;

interface Props {
  overview: Overview;
  timeOf: (bar: number) => string;
  onPress: Press;
  /** Times in which no rows were stored. */
  outages?: readonly (readonly [from: number, to: number])[];
}

const HEIGHT = 100;
/** Space between the bars, and a line between two names of a bar. */
const [GAP, LINE] = [0.12, 0.8];

const ROUND = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];
/** A round number that is not below this one, and whose half is whole. */
const roundUp = (count: number): number => {
  const power = 10 ** Math.floor(Math.log10(count));
  return ROUND.map((n) => n * power).find((n) => n >= count)!;
};

export const nameOfSeries = ({ kind, name }: Series): string =>
  kind === 'others' ? 'All others' : name;

/** Where a time is among bars, in bars. */
const placeIn = (bounds: readonly number[], at: number): number => {
  const bar = bounds.filter((bound) => bound <= at).length - 1;
  if (bar < 0) return 0;
  const [from, to] = [bounds[bar]!, bounds[bar + 1]];
  return to === undefined ? bar : bar + (at - from) / (to - from);
};

/** Rows by time, stacked by event; the line is the time before. */
export const StackedBars = still(({ overview, timeOf, onPress, outages = [] }: Props) => {
  const [pointed, point] = useState<{ bar: number; series: Series | undefined } | undefined>();
  const { bars, barsBefore, stacked, totals } = overview;
  const most = roundUp(Math.max(10, ...bars, ...barsBefore));
  const hasBefore = barsBefore.some((count) => count > 0);
  const y = (count: number): number => HEIGHT - (Math.max(0, count) / most) * HEIGHT;
  const placeOf = (event: TargetedPointerEvent<SVGSVGElement> | MouseEvent) => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    const at = Math.floor(((event.clientX - left) / width) * bars.length);
    const index = event.target instanceof Element && event.target.getAttribute('data-at');
    const series = index ? stacked[Number(index)] : undefined;
    return { bar: Math.min(bars.length - 1, Math.max(0, at)), series };
  };
  const words = (): string => {
    if (!pointed)
      return stacked.length > 1
        ? `${countOf(totals.rows, 'row')} in all`
        : 'Point at a bar for its number';
    const { bar, series } = pointed;
    const own = series && `${nameOfSeries(series)} ${inDigits(series.bars[bar]!)} of `;
    const before = hasBefore ? `, ${inDigits(barsBefore[bar]!)} the time before` : '';
    return `${timeOf(bar)}: ${own ?? ''}${countOf(bars[bar]!, 'row')}${before}`;
  };
  const line = barsBefore
    .map((count, at) => `${at ? 'L' : 'M'}${at} ${y(count).toFixed(2)}H${at + 1}`)
    .join('');
  return (
    <figure class="stack">
      <figcaption class="soft small">
        <Text of={words()} />
      </figcaption>
      <div class="plot">
        <div class="scale soft" aria-hidden="true">
          {[most, most / 2, 0].map((count) => (
            <span>{inDigits(count)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${bars.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Rows by time and event: ${countOf(totals.rows, 'row')}. The table has the numbers.`}
          onPointerMove={(event) => point(placeOf(event))}
          onPointerLeave={() => point(undefined)}
          onClick={(event) => {
            const { bar, series } = placeOf(event);
            if (bars[bar]) onPress(bar, series);
          }}
        >
          <path class="grid" d={`M0 .5H${bars.length}M0 ${HEIGHT / 2}H${bars.length}`} />
          {pointed && <rect class="pointed" x={pointed.bar} width="1" height={HEIGHT} />}
          {bars.map((_, bar) => {
            let top = HEIGHT;
            return stacked.map((series, at) => {
              const count = series.bars[bar]!;
              if (count <= 0) return null;
              const height = Math.max(1, (count / most) * HEIGHT);
              top -= height;
              return (
                <rect
                  data-at={at}
                  data-hue={series.hue}
                  x={bar + GAP}
                  y={top.toFixed(2)}
                  width={1 - 2 * GAP}
                  height={Math.max(0.6, height - LINE).toFixed(2)}
                />
              );
            });
          })}
          {hasBefore && <path class="before" d={line} />}
          {outages.map(([from, to]) => {
            const [x, end] = [
              placeIn(overview.span.bounds, from),
              placeIn(overview.span.bounds, to),
            ];
            // A short one has to be seen as well.
            return (
              <rect
                class="outage"
                x={x}
                width={Math.max(end - x, bars.length / 200)}
                height={HEIGHT}
              />
            );
          })}
        </svg>
      </div>
      <div class="axis soft" aria-hidden="true">
        {[0, 1, 2, 3].map((quarter) => (
          <span>{timeOf(Math.floor((quarter * bars.length) / 4))}</span>
        ))}
        <span>now</span>
      </div>
      {(stacked.length > 1 || hasBefore) && (
        <ul class="legend wrap soft small">
          {stacked.map((series) => (
            <li>
              <i class="hue" data-hue={series.hue} />
              <Text of={nameOfSeries(series)} max={40} />
            </li>
          ))}
          {hasBefore && (
            <li>
              <i class="hue before" />
              the time before
            </li>
          )}
        </ul>
      )}
      <BarsTable {...{ overview, timeOf, onPress }} />
    </figure>
  );
});

/** The numbers behind the bars, and the way to their rows without a pointer. */
const BarsTable = ({ overview: { bars, barsBefore, stacked }, timeOf, onPress }: Props) => {
  const [isOpen, open] = useState(false);
  const press = (bar: number, count: number, series?: Series) =>
    count > 0 ? (
      <button class="link" onClick={() => onPress(bar, series)}>
        {inDigits(count)}
      </button>
    ) : (
      '0'
    );
  return (
    <details onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary class="small">The numbers as a table</summary>
      {isOpen && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Rows by time and event">
          <table class="small">
            <thead>
              <tr>
                <th scope="col">From</th>
                <th scope="col">Rows</th>
                <th scope="col">Before</th>
                {stacked.map((series) => (
                  <th scope="col">
                    <Text of={nameOfSeries(series)} max={30} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {bars.map((count, bar) => (
                <tr>
                  <th scope="row">{timeOf(bar)}</th>
                  <td>{press(bar, count)}</td>
                  <td>{inDigits(barsBefore[bar]!)}</td>
                  {stacked.map((series) => (
                    <td>{press(bar, series.bars[bar]!, series)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
};
