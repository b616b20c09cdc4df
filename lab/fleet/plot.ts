import { TROUBLE_AT_MS } from './scenarios.js';
import type { Second } from './server.js';

export interface Line {
  name: string;
  seconds: readonly Second[];
}

interface Plot {
  title: string;
  /** Requests a second on a good day. */
  perSecond: number;
  /** What the server can do on a good day, over that. */
  headroom: number;
  troubleMs: number;
  lines: readonly Line[];
}

const WIDTH = 860;
const PANEL_HEIGHT = 150;
const LEFT = 64;
const RIGHT = 16;
const TOP = 72;
const GAP = 34;
const BOTTOM = 46;
/** A point of the curve is the most of so many seconds: a spike must not be averaged away. */
const POINT_S = 5;
/** The scale is logarithmic, from here: the others reach hundreds of times the steady rate. */
const LOWEST = 0.1;

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 15px; font-weight: 600 }
  .name { font-weight: 600 }
  .quiet { fill: #57606a }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .limit { stroke: #57606a; stroke-width: 1; stroke-dasharray: 4 3 }
  .trouble { fill: #d1242f; fill-opacity: .1 }
  .sent { fill: none; stroke: #0969da; stroke-width: 1.5; stroke-linejoin: round }
  .wasted { fill: #d1242f; fill-opacity: .55 }
  .back { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .quiet { fill: #9198a1 } .grid { stroke: #3d444d }
    .limit { stroke: #9198a1 } .sent { stroke: #58a6ff } .back { fill: #0d1117 }
    .trouble { fill: #f85149; fill-opacity: .16 } .wasted { fill: #f85149 }
  }`;

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const round = (value: number): string => value.toFixed(1);

/** The most in each few seconds, over the steady rate. */
const pointsOf = (seconds: readonly Second[], key: 'sent' | 'wasted', perSecond: number) =>
  Array.from({ length: Math.floor(seconds.length / POINT_S) }, (_, i) => {
    const slice = seconds.slice(i * POINT_S, (i + 1) * POINT_S);
    return Math.max(...slice.map((second) => second[key])) / perSecond;
  });

/** Requests a second over time, one panel a policy, all to one scale. Legible on light and on dark ground. */
export const plot = ({ title, perSecond, headroom, troubleMs, lines }: Plot): string => {
  const lengthS = lines[0]!.seconds.length;
  const highest = Math.max(
    10,
    ...lines.flatMap(({ seconds }) => pointsOf(seconds, 'sent', perSecond)),
  );
  const top = 10 ** Math.ceil(Math.log10(highest));
  const height = TOP + lines.length * (PANEL_HEIGHT + GAP) - GAP + BOTTOM;
  const x = (second: number) => LEFT + (second / lengthS) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) =>
    PANEL_HEIGHT * (1 - Math.log(Math.max(value, LOWEST) / LOWEST) / Math.log(top / LOWEST));
  const troubleS = [TROUBLE_AT_MS / 1_000, (TROUBLE_AT_MS + troubleMs) / 1_000] as const;
  const decades: number[] = [];
  for (let value = LOWEST; value <= top * 1.001; value *= 10) decades.push(value);

  const panel = ({ name, seconds }: Line, index: number): string => {
    const path = (key: 'sent' | 'wasted') =>
      pointsOf(seconds, key, perSecond)
        .map((value, i) => `${round(x((i + 0.5) * POINT_S))},${round(y(value))}`)
        .join(' ');
    const wasted = `${LEFT},${PANEL_HEIGHT} ${path('wasted')} ${WIDTH - RIGHT},${PANEL_HEIGHT}`;
    return `<g transform="translate(0 ${TOP + index * (PANEL_HEIGHT + GAP)})">
<text class="name" x="${LEFT}" y="-8">${escape(name)}</text>
<rect class="trouble" x="${round(x(troubleS[0]))}" y="0" width="${round(x(troubleS[1]) - x(troubleS[0]))}" height="${PANEL_HEIGHT}"/>
${decades
  .map(
    (
      value,
    ) => `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(y(value))}" y2="${round(y(value))}"/>
<text class="quiet" x="${LEFT - 8}" y="${round(y(value) + 4)}" text-anchor="end">${Number(value.toPrecision(1))}×</text>`,
  )
  .join('\n')}
<line class="limit" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(y(headroom))}" y2="${round(y(headroom))}"/>
<polygon class="wasted" points="${wasted}"/>
<polyline class="sent" points="${path('sent')}"/>
</g>`;
  };

  const ticks = Array.from({ length: Math.floor(lengthS / 300) + 1 }, (_, i) => i * 300)
    .map(
      (second) =>
        `<text class="quiet" x="${round(x(second))}" y="${height - BOTTOM + 18}" text-anchor="middle">${second / 60}</text>`,
    )
    .join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escape(title)}">
<style>${STYLE}</style>
<rect class="back" width="${WIDTH}" height="${height}"/>
<text class="title" x="${LEFT}" y="22">${escape(title)}</text>
<text class="quiet" x="${LEFT}" y="42">requests a second, over the steady rate of ${Math.round(perSecond).toLocaleString('en')}</text>
${lines.map(panel).join('\n')}
${ticks}
<text class="quiet" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${height - 10}" text-anchor="middle">minutes · line: sent · filled red: wasted · pale red: the trouble · dashed: what the server can do</text>
</svg>
`;
};
