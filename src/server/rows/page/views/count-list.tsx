import type { ComponentChildren } from 'preact';
import { inDigits } from '../../../../show/times.js';

export const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

export interface Counted {
  name: ComponentChildren;
  count: number;
  /** By which it is coloured. */
  kind?: string;
  onPress?: (() => void) | undefined;
}

/** The length of a bar behind a line. */
export const Share = ({ of, most }: { of: number; most: number }) => (
  <svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
    <rect width={(of / Math.max(1, most)) * 100} height="1" />
  </svg>
);

/** Things with their counts: each has its share of all, and a bar unless it is more than `most`. */
export const CountList = ({
  items,
  all,
  most = all,
}: {
  items: readonly Counted[];
  all: number;
  most?: number;
}) => (
  <ul class="values small">
    {items.map(({ name, count, kind, onPress }) => (
      <li class={kind}>
        {count <= most && <Share of={count} most={most} />}
        {onPress ? (
          <button class="value" onClick={onPress}>
            {name}
          </button>
        ) : (
          <span class="cut">{name}</span>
        )}
        <b>{inDigits(count)}</b>
        <small class="soft">{all ? PERCENT.format(count / all) : '–'}</small>
      </li>
    ))}
  </ul>
);
