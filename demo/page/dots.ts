import type { Station } from './calls.js';

/** Each record a dot, which goes the way that its record goes. */
export interface Dot {
  id: string;
  station: Station;
  tone: 'called' | 'waiting' | 'air' | 'stored' | 'odd' | 'bad';
}

/** A dot is seen for so long wherever its record was, however fast that went on. */
const DWELL_MS = 200;
/** Dots that move at the same moment start one after the other. */
const AFTER_ANOTHER_MS = 7;
/** A record that has gone on so often meanwhile skips what was in between. */
const MOST_BEHIND = 3;
/** Distances from dot to dot, the roomiest first. */
const PITCHES = [17, 15, 13, 11, 9, 7, 6, 5, 4];
/** As many as fit at the smallest pitch may be drawn; of more, the latest are. */
const MOST_DOTS = 600;

interface Shown {
  element: HTMLElement;
  station: Station;
  slot: number;
  /** Where it goes from here. */
  ahead: Pick<Dot, 'station' | 'tone'>[];
  since: number;
}

interface Yard {
  left: number;
  top: number;
  columns: number;
  pitch: number;
}

/** @param way the element around the stations; each has its `data-yard`, in which its dots stand */
export const createDots = (way: HTMLElement) => {
  const layer = document.createElement('div');
  layer.className = 'dots';
  layer.setAttribute('aria-hidden', 'true');
  way.append(layer);
  const shown = new Map<string, Shown>();
  const still = matchMedia('(prefers-reduced-motion: reduce)');
  const yards = new Map<Station, Yard>();
  let frame: number | undefined;

  const dotsIn = (station: Station): Shown[] =>
    [...shown.values()].filter((dot) => dot.station === station);

  const measure = (station: Station): Yard | undefined => {
    const element = way.querySelector<HTMLElement>(`[data-yard=${station}]`);
    if (!element) return undefined;
    const [outer, inner] = [way.getBoundingClientRect(), element.getBoundingClientRect()];
    const most = Math.max(0, ...dotsIn(station).map(({ slot }) => slot)) + 1;
    const columnsAt = (pitch: number) => Math.max(1, Math.floor(inner.width / pitch));
    const fits = (pitch: number) =>
      columnsAt(pitch) * Math.max(1, Math.floor((inner.height + 2) / pitch)) >= most;
    const pitch = PITCHES.find(fits) ?? PITCHES.at(-1)!;
    return {
      ...{ left: inner.left - outer.left, top: inner.top - outer.top },
      ...{ columns: columnsAt(pitch), pitch },
    };
  };

  const put = ({ element, station, slot }: Shown): void => {
    const yard = yards.get(station);
    if (!yard) return;
    const { left, top, columns, pitch } = yard;
    const x = left + (slot % columns) * pitch;
    const y = top + Math.floor(slot / columns) * pitch;
    // The element is 14 px wide.
    element.style.transform = `translate(${x}px, ${y}px) scale(${(pitch * 0.78) / 14})`;
  };

  /** Where there is room for all at another distance, all move. */
  const arrange = (station: Station, isMeasured = false): void => {
    const before = yards.get(station);
    const yard = measure(station);
    if (!yard) return;
    yards.set(station, yard);
    const isSame = before && before.pitch === yard.pitch && before.columns === yard.columns;
    if (!isSame || isMeasured) dotsIn(station).forEach(put);
  };

  /** The first place that is free. */
  const freeSlot = (station: Station): number => {
    const taken = new Set(dotsIn(station).map(({ slot }) => slot));
    for (let slot = 0; ; slot++) if (!taken.has(slot)) return slot;
  };

  const move = (dot: Shown, { station, tone }: Pick<Dot, 'station' | 'tone'>): void => {
    dot.element.dataset['tone'] = tone;
    if (dot.station === station) return;
    const left = dot.station;
    dot.slot = freeSlot(station);
    dot.station = station;
    arrange(station);
    arrange(left);
    put(dot);
  };

  const run = (time: number): void => {
    frame = undefined;
    let isWanted = false;
    let nth = 0;
    for (const dot of shown.values()) {
      if (!dot.ahead.length) continue;
      if (dot.ahead.length > MOST_BEHIND) dot.ahead.splice(0, dot.ahead.length - MOST_BEHIND);
      const isDue = still.matches || time >= dot.since + DWELL_MS;
      if (isDue) {
        move(dot, dot.ahead.shift()!);
        dot.since = time + AFTER_ANOTHER_MS * nth++;
      }
      isWanted ||= dot.ahead.length > 0;
    }
    if (isWanted) frame = requestAnimationFrame(run);
  };

  const add = ({ id, station, tone }: Dot): void => {
    const element = document.createElement('i');
    element.dataset['tone'] = station === 'page' ? tone : 'called';
    const from: Station = station === 'service' ? 'service' : 'page';
    const dot = {
      element,
      station: from,
      slot: freeSlot(from),
      ahead: [],
      since: performance.now(),
    };
    shown.set(id, dot);
    arrange(from);
    put(dot);
    layer.append(element);
    const list = dotsIn('page').length;
    dot.since += list * AFTER_ANOTHER_MS;
    aim(dot, { station, tone });
  };

  const aim = (dot: Shown, to: Pick<Dot, 'station' | 'tone'>): void => {
    const last = dot.ahead.at(-1) ?? { station: dot.station, tone: dot.element.dataset['tone'] };
    if (last.station !== to.station || last.tone !== to.tone) dot.ahead.push(to);
  };

  const observer = new ResizeObserver(() => {
    for (const station of ['page', 'outbox', 'wire', 'service'] as const) arrange(station, true);
  });
  observer.observe(way);

  return {
    show: (all: readonly Dot[]): void => {
      const dots = all.slice(-MOST_DOTS);
      const ids = new Set(dots.map(({ id }) => id));
      for (const [id, { element }] of shown)
        if (!ids.has(id)) {
          element.remove();
          shown.delete(id);
        }
      for (const dot of dots) {
        const known = shown.get(dot.id);
        if (known) aim(known, dot);
        else add(dot);
      }
      frame ??= requestAnimationFrame(run);
    },
    end: (): void => {
      observer.disconnect();
      if (frame !== undefined) cancelAnimationFrame(frame);
      layer.remove();
    },
  };
};
