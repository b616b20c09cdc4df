import { mayFail } from '../../util/may-fail.js';
import type { Watched } from '../watched.js';
import { prettyBody } from './copies.js';
import { formOf } from './destination.js';
import { h, type Drawing } from './dom.js';
import { FAULTS, type Fault } from './faults.js';
import type { Snapshot } from './inspect.js';
import { isolated } from './isolated.js';
import { barOf, dueOf, isTicking, scaleOf, stateOf, stepsOf } from './line-words.js';
import type { Line } from './lines.js';
import { mayAsk } from './service-rows.js';
import { countdown, countOf, stretch } from './times.js';
import { VERSION } from './version.js';

/** What a person has chosen. */
export interface Chosen {
  tab: string;
  /** The edge of the window at which the panel is. */
  dock: 'right' | 'below';
  /** Whether it is a pill. */
  isFolded: boolean;
  /** The record that is open. */
  id?: string | undefined;
  /** What was done last: `Copied`. */
  notice: string;
}

export interface Actions {
  close: () => void;
  choose: (chosen: Partial<Chosen>) => void;
  /** Docks or folds the panel, which keeps the focus. */
  place: (chosen: Partial<Chosen>) => void;
  pick: (watched: Watched) => void;
  flush: () => void;
  copy: (what: 'curl' | 'call' | 'JSON' | 'report', line?: Line) => void;
  save: () => void;
  openRows: () => void;
  compare: () => void;
  setFault: (fault: Fault | undefined) => void;
  keepOpen: (isKept: boolean) => void;
}

export interface Shown extends Snapshot {
  chosen: Chosen;
  all: Watched[];
  fault: Fault | undefined;
  /** Words for the frame that the page is in; empty if it is in none. */
  frame: string;
  /** Ids of rows that the service has, where it was asked. */
  rows: Set<string> | undefined;
  isKeptOpen: boolean;
  /** Whether it is in an element of the page, which says where it is. */
  isEmbedded: boolean;
}

const button = (label: string, onclick: () => void, more: Record<string, string | boolean> = {}) =>
  // A page may have broken what an action needs. That is no error of the page's.
  h('button', { type: 'button', onclick: () => mayFail(onclick), ...more }, label);

const sums = ({ status, rows, lines }: Shown): Drawing => {
  const { waiting, inFlight, delivered, unknown, dropped } = status;
  const count = (value: number, label: string, kind: string) =>
    h('div', { class: value ? kind : '' }, h('dt', {}, label), h('dd', {}, `${value}`));
  const told = lines.filter(({ end }) => end?.what === 'delivered');
  const there = told.filter(({ id }) => rows?.has(id)).length;
  return h(
    'dl',
    {},
    count(waiting, 'waiting', ''),
    count(inFlight, 'on the wire', 'wire'),
    count(delivered, 'delivered', 'ok'),
    count(
      Object.values(dropped).reduce((sum, one) => sum + one, 0),
      'dropped',
      'wrong',
    ),
    unknown > 0 && count(unknown, 'unknown', 'trouble'),
    rows && count(there, `stored, of ${told.length} below`, there < told.length ? 'trouble' : 'ok'),
  );
};

const reasonView = ({ reason, now }: Shown): Drawing => {
  const { text, fix, until = 0, kind } = reason;
  return h(
    'div',
    { class: `reason ${kind}` },
    h('div', { role: 'status' }, h('p', {}, text), fix && h('p', { class: 'soft' }, fix)),
    until > now && until < Infinity && h('b', {}, countdown(until - now)),
  );
};

const details = (line: Line, { copy }: Actions): Drawing =>
  h(
    'div',
    { class: 'details' },
    h(
      'ul',
      {},
      stepsOf(line).map((words) =>
        h(
          'li',
          {},
          words.map((text) => h('span', {}, text)),
        ),
      ),
    ),
    line.body &&
      h('pre', { dir: 'ltr', tabindex: 0, 'aria-label': 'JSON' }, isolated(prettyBody(line))),
    line.body &&
      h(
        'p',
        { class: 'buttons' },
        (['curl', 'call', 'JSON'] as const).map((what) =>
          button(`Copy as ${what}`, () => copy(what, line)),
        ),
      ),
  );

/** Lines that do not change are not drawn anew. */
const drawn = new WeakMap<Line, [state: string, drawing: Drawing]>();

const lineView = (
  line: Line,
  { chosen, now, status, scale }: Shown & { scale: number },
  actions: Actions,
): Drawing => {
  const isOpen = line.id === chosen.id;
  const due = dueOf(line, status.nextAttempt);
  const known = drawn.get(line);
  // What moves is drawn once more after it has come to rest. The bar of a record that waits grows slowly.
  const grown = line.end ? 0 : Math.round((60 * (now - line.calledAt)) / scale);
  const moves = isTicking(line, now, due) ? now : grown;
  const state = `${line.version} ${isOpen} ${scale} ${moves}`;
  if (known?.[0] === state) return known[1];
  const [text, kind] = stateOf(line, now, due);
  const drawing = h(
    'li',
    { key: line.id },
    h(
      'button',
      {
        ...{ type: 'button', class: 'line', 'aria-expanded': `${isOpen}` },
        onclick: () => actions.choose({ id: isOpen ? undefined : line.id }),
      },
      h('span', { class: 'name' }, line.name),
      h('span', { class: kind }, text),
      h(
        'svg',
        { viewBox: `0 0 ${scale} 1`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
        barOf(line, { now, due, scale }).map(([kind, x, width]) =>
          h('rect', { class: kind, x, width, height: 1 }),
        ),
      ),
    ),
    isOpen && details(line, actions),
  );
  drawn.set(line, [state, drawing]);
  return drawing;
};

const empty = (text: string) => h('p', { class: 'soft pad' }, text);

/** What the colours of the bars mean, and how long a bar is. */
const keyOf = (scale: number): Drawing =>
  h(
    'p',
    { class: 'key soft' },
    [
      ['rest', 'waits'],
      ['wire', 'on the wire'],
      ['trouble', 'trouble'],
    ].map(([kind, words]) => h('span', {}, h('i', { class: kind }), words!)),
    h('span', {}, `0 to ${stretch(scale)}`),
  );

const recordsTab = (shown: Shown, actions: Actions) => {
  const { lines, now } = shown;
  if (!lines.length) return empty('Calls appear here, newest first.');
  const scale = scaleOf(lines, now);
  return [
    keyOf(scale),
    h(
      'ol',
      {},
      lines.map((line) => lineView(line, { ...shown, scale }, actions)),
    ),
  ];
};

const closeTab = ({ closing, destination }: Shown) => {
  const { handedOff, onTheWire, waits, lost, notStored } = closing();
  const group = (lines: readonly Line[], kind: string, title: string, text: string) =>
    lines.length > 0 &&
    h(
      'div',
      { class: 'pad' },
      h('h3', { class: kind }, `${countOf(lines.length)} ${title}`),
      h('p', { class: 'soft' }, text),
      h(
        'ul',
        { class: 'names' },
        lines.slice(0, 50).map(({ name }) => h('li', {}, name)),
      ),
    );
  const stored = notStored ? ` ${notStored} not stored yet: a note in localStorage has them.` : '';
  const wire = destination?.resends
    ? 'The browser completes it. The next page repeats it, and the receiver knows repeats.'
    : 'The browser completes it. Nobody sees the answer, which counts as unknown.';
  const groups = [
    group(lost, 'wrong', 'would be lost', 'Without consent they are in memory only.'),
    group(onTheWire, 'wire', 'on the wire', wire),
    group(handedOff, 'ok', 'would be handed off', 'The browser sends them without the page.'),
    group(waits, 'rest', 'would wait', `The next page of this site sends them.${stored}`),
  ];
  return groups.some(Boolean) ? groups : empty('Nothing waits.');
};

const setupTab = (shown: Shown, { keepOpen }: Actions) => {
  const { status, destination, options, others, isGpc, now, isKeptOpen, lines } = shown;
  const { storage, consent, userId } = status;
  const { pages, held, until, free } = others;
  const session = lines.map(({ body }) => /"session_id":"([^"]+)/.exec(body)?.[1]).find(Boolean);
  const row = (...cells: (string | undefined)[]) => {
    const [name, ...more] = cells;
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, name!),
      more.map((text) => h('td', {}, text ?? '–')),
    );
  };
  // What is as usual is not said.
  return h(
    'table',
    {},
    h(
      'tbody',
      {},
      row('Sends to', destination?.address, formOf(destination)),
      storage !== 'indexeddb' && row('Storage', storage, ''),
      (consent !== 'granted' || isGpc) && row('Consent', consent, isGpc ? 'GPC is on' : ''),
      userId !== undefined && row('User', userId, ''),
      session && row('Session', session, 'last event'),
      pages + free > 0 &&
        row(
          'Other tabs',
          `${pages} open, with ${countOf(held)}`,
          held ? `for ${stretch(until - now)} at most` : free ? `${free} left behind` : '',
        ),
      options().map(({ name, value, origin }) => row(name, value, origin)),
      row('Version', VERSION, ''),
    ),
    h(
      'caption',
      {},
      h(
        'label',
        {},
        h('input', {
          ...{ type: 'checkbox', checked: isKeptOpen },
          onchange: ({ target }: Event) => keepOpen((target as HTMLInputElement).checked),
        }),
        ' Open on every page of this site',
      ),
    ),
  );
};

const faultsTab = ({ fault, watched, destination }: Shown, { setFault }: Actions) =>
  !destination || watched.options?.fetch
    ? empty('The requests of this page cannot be reached.')
    : [
        empty('For this page alone, until you close the inspector.'),
        h(
          'ul',
          { class: 'faults' },
          (Object.entries(FAULTS) as [Fault, string][]).map(([name, text]) =>
            h(
              'li',
              {},
              button(name, () => setFault(fault === name ? undefined : name), {
                'aria-pressed': `${fault === name}`,
              }),
              h('span', { class: 'soft' }, text),
            ),
          ),
        ),
      ];

const TABS = {
  Records: recordsTab,
  'If I close now': closeTab,
  Setup: setupTab,
  Faults: faultsTab,
};
const NAMES = Object.keys(TABS) as (keyof typeof TABS)[];

const head = (shown: Shown, { pick, close, place }: Actions) => {
  const { watched, all, destination, status, frame, chosen, isEmbedded } = shown;
  const { storage, consent } = status;
  const other = chosen.dock === 'right' ? 'below' : 'right';
  return h(
    'header',
    {},
    all[1]
      ? h(
          'select',
          {
            'aria-label': 'Instance',
            onchange: ({ target }: Event) =>
              pick(all[(target as HTMLSelectElement).selectedIndex]!),
          },
          all.map((one) =>
            h('option', { selected: one === watched }, `${one.name} ${one.options?.project ?? ''}`),
          ),
        )
      : h('h2', {}, watched.name),
    h(
      'span',
      { class: 'soft' },
      [
        watched.options?.project,
        formOf(destination),
        storage !== 'indexeddb' && storage,
        consent !== 'granted' && consent,
        frame,
      ]
        .filter(Boolean)
        .join(' · '),
    ),
    !isEmbedded && [
      button(`Dock ${other}`, () => place({ dock: other }), { class: 'dock' }),
      button('–', () => place({ isFolded: true }), { class: 'close', 'aria-label': 'Fold' }),
    ],
    button('×', close, { class: 'close', 'aria-label': 'Close the inspector' }),
  );
};

/** The panel as a pill: how many wait, and whether something is wrong. */
const pill = ({ watched, status, reason }: Shown, { place }: Actions): Drawing =>
  button(
    `${watched.name} · ${status.waiting + status.inFlight} waiting`,
    () => place({ isFolded: false }),
    { class: reason.kind, 'aria-expanded': 'false' },
  );

const opened = (shown: Shown, actions: Actions): (Drawing | false)[] => {
  const { chosen, destination } = shown;
  const { copy, choose, flush, save, openRows, compare } = actions;
  const { tab, notice } = chosen;
  const moveTab = ({ key, currentTarget }: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const at = (NAMES.indexOf(tab as 'Setup') + step + NAMES.length) % NAMES.length;
    choose({ tab: NAMES[at]! });
    ((currentTarget as Element).children[at] as HTMLElement).focus();
  };
  return [
    head(shown, actions),
    sums(shown),
    reasonView(shown),
    h(
      'div',
      { role: 'tablist', 'aria-label': 'Views', onkeydown: moveTab },
      NAMES.map((name, i) =>
        button(name, () => choose({ tab: name }), {
          ...{ role: 'tab', id: `tab${i}`, 'aria-controls': 'panel' },
          'aria-selected': `${name === tab}`,
          tabindex: name === tab ? '0' : '-1',
        }),
      ),
    ),
    h(
      'div',
      {
        ...{ key: tab, role: 'tabpanel', id: 'panel', tabindex: 0 },
        'aria-labelledby': `tab${NAMES.indexOf(tab as 'Setup')}`,
      },
      TABS[tab as 'Setup'](shown, actions),
    ),
    h(
      'footer',
      { class: 'buttons' },
      button('Flush', flush),
      button('Export', save),
      button('Report', () => copy('report')),
      destination && button('Rows ↗', openRows),
      destination && mayAsk(destination) && button('Compare', compare),
      h('span', { role: 'status', class: 'soft' }, notice),
    ),
  ];
};

/** The whole panel. */
export const view = (shown: Shown, actions: Actions): Drawing[] => {
  const { chosen, fault, watched } = shown;
  const { setFault } = actions;
  const { dock, isFolded } = chosen;
  return [
    h(
      'section',
      {
        ...{ key: 'panel', 'aria-label': `Inspector of ${watched.name}`, tabindex: -1 },
        class: isFolded ? 'pill' : dock,
      },
      isFolded ? pill(shown, actions) : opened(shown, actions),
    ),
    ...(fault
      ? [
          h(
            'div',
            { class: 'frame' },
            h(
              'p',
              {},
              `Fault on purpose: ${fault}`,
              button('End', () => setFault(undefined)),
            ),
          ),
        ]
      : []),
  ];
};
