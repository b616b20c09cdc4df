import type { Erasure, Refused, Row } from '../service.js';
import { hueOf } from '../show/hue.js';
import { delayOf } from '../show/times.js';
import { escapeHidden } from '../show/visible.js';
import { cutToWidth, widthOf } from './text-width.js';

/** Makes a text of strangers safe for one line of a terminal: without control characters and line breaks. */
export const plain = (text: string): string => escapeHidden(text).replaceAll('\n', '\\u000a');

/** The part of a terminal's stream that is used. */
export interface Terminal {
  columns: number;
  /** Bits of a colour: 1 for none, 8 for 256 colours. */
  getColorDepth(environment: object): number;
}

const pairsOf = (values: object): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');

const timeOf = (iso: string): string => new Date(iso).toTimeString().slice(0, 8);

const partsOf = (row: Row) => {
  const { type, body, received_at, project, channel, user_id } = row;
  const { event, icon, tags, properties } = body as unknown as Record<string, unknown>;
  const delay = delayOf(row);
  return {
    time: timeOf(received_at),
    place: channel === undefined ? project : `${project} · ${channel}`,
    name: type === 'identify' ? 'identify' : [icon, event].filter(Boolean).join(' '),
    user: user_id ?? '',
    late: delay.kind === 'late' ? delay.text : '',
    tags: pairsOf((tags ?? properties ?? {}) as object),
  };
};
type Part = keyof ReturnType<typeof partsOf>;

const refusedText = ({ status, reason, message }: Refused): string =>
  `refused ${status} (${reason})  ${message}`;

/** A row as a whole line. */
export const lineOf = (row: Row): string => {
  const { time, place, name, user, tags } = partsOf(row);
  return plain([time, place, name, user, tags].filter(Boolean).join('  '));
};

/** A refused request as a whole line. */
export const refusedLine = (refused: Refused): string =>
  plain(`${timeOf(refused.received_at)}  ${refusedText(refused)}`);

/** Which rows are erased by now, in words. */
export const erasedText = ({ project, user_id, channel, event, from, to, upto }: Erasure): string =>
  [
    `erased: rows of the project ${project} before place ${upto}`,
    user_id !== undefined && `user ${user_id}`,
    channel !== undefined && `channel ${channel}`,
    event !== undefined && `event ${event}`,
    from !== undefined && `from ${from}`,
    to !== undefined && `to ${to}`,
  ]
    .filter(Boolean)
    .join(', ');

/** https://en.wikipedia.org/wiki/ANSI_escape_code#Select_Graphic_Rendition_parameters */
const STYLES = { dim: '2', red: '31', amber: '33' };
const STYLE_OF: Readonly<Partial<Record<Part, string>>> = {
  ...{ time: STYLES.dim, place: STYLES.dim, late: STYLES.amber, tags: STYLES.dim },
};
/** The colours of names, as near to those of the page as a terminal of 256 colours comes; see `hueOf`. */
const HUES = [69, 36, 172, 170, 38, 167, 142, 141] as const;
const styleOfName = ({ type, event = '' }: Row, depth: number): string =>
  type === 'identify' || depth < 8 ? '1' : `1;38;5;${HUES[hueOf(event)]}`;
/** A column is as wide as its widest text so far, up to this part of the terminal, and to so many letters. */
const MOST_OF: Readonly<Partial<Record<Part, readonly [share: number, letters: number]>>> = {
  place: [0.2, 24],
  name: [0.3, 24],
  user: [0.2, 16],
};
const GAP = 2;
const RULE = '── new rows ';
/** Longer texts are cut before their width is measured: a tag may have 100,000 characters. */
const MAX_LETTERS = 8;

/** Lines for a terminal: in columns, cut to its width, and coloured unless `NO_COLOR` or the terminal forbids it. */
export const createTerminalLines = (terminal: Terminal, environment: NodeJS.ProcessEnv) => {
  const depth = terminal.getColorDepth(environment);
  const isColoured = depth > 1;
  const widths = new Map<Part, number>();

  const paint = (style: string | undefined, text: string): string =>
    isColoured && style && text ? `\u001b[${style}m${text}\u001b[0m` : text;
  const fit = (text: string, width: number): string =>
    cutToWidth(plain(text.slice(0, width * MAX_LETTERS)), width);

  return {
    row: (row: Row): string => {
      let left = terminal.columns;
      let line = '';
      for (const [part, text] of Object.entries(partsOf(row)) as [Part, string][]) {
        const [share, letters] = MOST_OF[part] ?? [];
        const most = share && Math.max(1, Math.min(letters!, Math.floor(terminal.columns * share)));
        const shown = fit(text, Math.min(most ?? left, left));
        const width = widthOf(shown);
        if (most) widths.set(part, Math.min(most, Math.max(width, widths.get(part) ?? 0)));
        const padding = Math.min(left, widths.get(part) ?? width) - width;
        if (width + padding <= 0) continue;
        const style = part === 'name' ? styleOfName(row, depth) : STYLE_OF[part];
        line += paint(style, shown) + ' '.repeat(padding + GAP);
        left -= width + padding + GAP;
        if (left <= 0) break;
      }
      return line.trimEnd();
    },
    /** Stands between the rows that were there and those that come. */
    rule: (): string =>
      paint(STYLES.dim, fit(RULE.padEnd(terminal.columns, '─'), terminal.columns)),
    refused: (refused: Refused): string => {
      const time = timeOf(refused.received_at);
      const left = Math.max(0, terminal.columns - time.length - GAP);
      return `${paint(STYLES.dim, time)}  ${paint(STYLES.red, fit(refusedText(refused), left))}`;
    },
  };
};
