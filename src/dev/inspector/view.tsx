/** @jsxRuntime classic
 * @jsx h */
import { countOf, exactLength } from '../../show/times.js';
import { mayFail } from '../../util/may-fail.js';
import type { Watched } from '../watched.js';
import { callOf, curlOf, exportOf, prettyBody, REPORT_HOLDS, reportOf } from './copies.js';
import { formOf } from './destination.js';
import { h, type Drawing, type Props } from './dom.js';
import { FAULTS, type Fault } from './faults.js';
import { follow, saveFile } from './follow.js';
import type { Snapshot } from './inspect.js';
import { apart, TEXT } from './apart.js';
import { barOf, countdown, dueOf, isTicking, scaleOf, stateOf, stepsOf } from './line-words.js';
import type { Line } from './lines.js';
import { mayAsk, rowsAddress } from './service-rows.js';
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
  /** Puts a text into the clipboard, and says so, and what it holds. */
  copy: (text: string, holds?: string) => void;
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

/** A page may have broken what an action needs. That is no error of the page's. */
const button = (label: string, onclick: () => void, more: Props = {}) => (
  <button type="button" onclick={() => mayFail(onclick)} {...more}>
    {label}
  </button>
);

const sums = ({ status, rows, lines }: Shown): Drawing => {
  const { waiting, inFlight, delivered, unknown, dropped } = status;
  const count = (value: number, label: string, kind: string) => (
    <div class={value ? kind : ''}>
      <dt>{label}</dt>
      <dd>{`${value}`}</dd>
    </div>
  );
  const told = lines.filter(({ end }) => end?.what === 'delivered');
  const there = told.filter(({ id }) => rows?.has(id)).length;
  const lost = Object.values(dropped).reduce((sum, one) => sum + one, 0);
  return (
    <dl>
      {count(waiting, 'waiting', '')}
      {count(inFlight, 'on the wire', 'wire')}
      {count(delivered, 'delivered', 'ok')}
      {count(lost, 'dropped', 'wrong')}
      {unknown > 0 && count(unknown, 'unknown', 'trouble')}
      {rows &&
        count(there, `stored, of ${told.length} below`, there < told.length ? 'trouble' : 'ok')}
    </dl>
  );
};

const reasonView = ({ reason, now }: Shown): Drawing => {
  const { text, fix, until = 0, kind } = reason;
  return (
    <div class={`reason ${kind}`}>
      <div role="status">
        <p>{apart(text)}</p>
        {fix && <p class="soft">{apart(fix)}</p>}
      </div>
      {until > now && until < Infinity && <b>{countdown(until - now)}</b>}
    </div>
  );
};

const details = (line: Line, { destination, watched }: Shown, { copy }: Actions): Drawing => (
  <div class="details">
    <ul>
      {stepsOf(line).map((words) => (
        <li>
          {words.map((text) => (
            <span>{text}</span>
          ))}
        </li>
      ))}
    </ul>
    {line.body && [
      <pre dir="ltr" tabindex={0} aria-label="JSON">
        {apart(prettyBody(line), TEXT, 'bdi')}
      </pre>,
      <p class="buttons">
        {destination && button('Copy as curl', () => copy(curlOf(line, destination)))}
        {button('Copy as call', () => copy(callOf(line, watched.name)))}
        {button('Copy as JSON', () => copy(prettyBody(line)))}
      </p>,
    ]}
  </div>
);

/** Lines that do not change are not drawn anew. */
const drawn = new WeakMap<Line, [state: string, drawing: Drawing]>();

const lineView = (line: Line, shown: Shown & { scale: number }, actions: Actions): Drawing => {
  const { chosen, now, status, scale } = shown;
  const isOpen = line.id === chosen.id;
  const due = dueOf(line, status.nextAttempt);
  const known = drawn.get(line);
  // What moves is drawn once more after it has come to rest. The bar of a record that waits grows slowly.
  const grown = line.end ? 0 : Math.round((60 * (now - line.calledAt)) / scale);
  const moves = isTicking(line, now, due) ? now : grown;
  const state = `${line.version} ${isOpen} ${scale} ${moves}`;
  if (known?.[0] === state) return known[1];
  const [text, kind] = stateOf(line, now, due);
  const toggle = () => actions.choose({ id: isOpen ? undefined : line.id });
  const drawing = (
    <li key={line.id}>
      <button type="button" class="line" aria-expanded={`${isOpen}`} onclick={toggle}>
        <span class="name">{line.name}</span>
        <span class={kind}>{text}</span>
        <svg viewBox={`0 0 ${scale} 1`} preserveAspectRatio="none" aria-hidden="true">
          {barOf(line, { now, due, scale }).map(([kind, x, width]) => (
            <rect class={kind} x={x} width={width} height={1} />
          ))}
        </svg>
      </button>
      {isOpen && details(line, shown, actions)}
    </li>
  );
  drawn.set(line, [state, drawing]);
  return drawing;
};

const empty = (text: string) => <p class="soft pad">{text}</p>;

const KEY = { rest: 'waits', wire: 'on the wire', trouble: 'trouble' };

/** What the colours of the bars mean, and how long a bar is. */
const keyOf = (scale: number): Drawing => (
  <p class="key soft">
    {Object.entries(KEY).map(([kind, words]) => (
      <span>
        <i class={kind} />
        {words}
      </span>
    ))}
    <span>{`0 to ${exactLength(scale)}`}</span>
  </p>
);

const recordsTab = (shown: Shown, actions: Actions) => {
  const { lines, now } = shown;
  if (!lines.length) return empty('Calls appear here, newest first.');
  const scale = scaleOf(lines, now);
  return [
    keyOf(scale),
    <ol>{lines.map((line) => lineView(line, { ...shown, scale }, actions))}</ol>,
  ];
};

const closeTab = ({ closing, destination }: Shown) => {
  const { handedOff, onTheWire, waits, lost, notStored } = closing();
  const group = (lines: readonly Line[], kind: string, title: string, text: string) =>
    lines.length > 0 && (
      <div class="pad">
        <h3 class={kind}>{`${countOf(lines.length, 'record')} ${title}`}</h3>
        <p class="soft">{text}</p>
        <ul class="names">
          {lines.slice(0, 50).map(({ name }) => (
            <li>{name}</li>
          ))}
        </ul>
      </div>
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
  const row = (name: string, ...cells: (string | undefined)[]) => (
    <tr>
      <th scope="row">{name}</th>
      {cells.map((text) => (
        <td>{text ?? '–'}</td>
      ))}
    </tr>
  );
  // What is as usual is not said.
  return (
    <table>
      <tbody>
        {row('Sends to', destination?.address, formOf(destination))}
        {storage !== 'indexeddb' && row('Storage', storage, '')}
        {(consent !== 'granted' || isGpc) && row('Consent', consent, isGpc ? 'GPC is on' : '')}
        {userId !== undefined && row('User', userId, '')}
        {session && row('Session', session, 'last event')}
        {pages + free > 0 &&
          row(
            'Other tabs',
            `${pages} open, with ${countOf(held, 'record')}`,
            held ? `for ${exactLength(until - now)} at most` : free ? `${free} left behind` : '',
          )}
        {options().map(({ name, value, origin }) => row(name, value, origin))}
        {row('Version', VERSION, '')}
      </tbody>
      <caption>
        <label>
          <input
            type="checkbox"
            checked={isKeptOpen}
            onchange={({ target }: Event) => keepOpen((target as HTMLInputElement).checked)}
          />
          {' Open on every page of this site'}
        </label>
      </caption>
    </table>
  );
};

const faultsTab = ({ fault, watched, destination }: Shown, { setFault }: Actions) =>
  !destination || watched.options?.fetch
    ? empty('The requests of this page cannot be reached.')
    : [
        empty('For this page alone, until you close the inspector.'),
        <ul class="faults">
          {(Object.entries(FAULTS) as [Fault, string][]).map(([name, text]) => (
            <li>
              {button(name, () => setFault(fault === name ? undefined : name), {
                'aria-pressed': `${fault === name}`,
              })}
              <span class="soft">{text}</span>
            </li>
          ))}
        </ul>,
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
  const onPick = ({ target }: Event) => pick(all[(target as HTMLSelectElement).selectedIndex]!);
  const words = [
    watched.options?.project,
    formOf(destination),
    storage !== 'indexeddb' && storage,
    consent !== 'granted' && consent,
    frame,
  ];
  return (
    <header>
      {all[1] ? (
        <select aria-label="Instance" onchange={onPick}>
          {all.map((one) => (
            <option
              selected={one === watched}
            >{`${one.name} ${one.options?.project ?? ''}`}</option>
          ))}
        </select>
      ) : (
        <h2>{watched.name}</h2>
      )}
      <span class="soft">{words.filter(Boolean).join(' · ')}</span>
      {!isEmbedded && [
        button(`Dock ${other}`, () => place({ dock: other }), { class: 'dock' }),
        button('–', () => place({ isFolded: true }), { class: 'close', 'aria-label': 'Fold' }),
      ]}
      {button('×', close, { class: 'close', 'aria-label': 'Close the inspector' })}
    </header>
  );
};

/** The panel as a pill: how many wait, and whether something is wrong. */
const pill = ({ watched, status, reason }: Shown, { place }: Actions): Drawing =>
  button(
    `${watched.name} · ${status.waiting + status.inFlight} waiting`,
    () => place({ isFolded: false }),
    { class: reason.kind, 'aria-expanded': 'false' },
  );

const opened = (shown: Shown, actions: Actions): Drawing[] => {
  const { chosen, destination, lines } = shown;
  const { copy, choose, flush, compare } = actions;
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
    <div role="tablist" aria-label="Views" onkeydown={moveTab}>
      {NAMES.map((name, i) =>
        button(name, () => choose({ tab: name }), {
          ...{ role: 'tab', id: `tab${i}`, 'aria-controls': 'panel' },
          'aria-selected': `${name === tab}`,
          tabindex: name === tab ? '0' : '-1',
        }),
      )}
    </div>,
    <div
      key={tab}
      role="tabpanel"
      id="panel"
      tabindex={0}
      aria-labelledby={`tab${NAMES.indexOf(tab as 'Setup')}`}
    >
      {TABS[tab as 'Setup'](shown, actions)}
    </div>,
    <footer class="buttons">
      {button('Flush', flush)}
      {button('Export', () => saveFile('records.json', exportOf(lines)))}
      {button('Report', () => copy(reportOf(shown), REPORT_HOLDS))}
      {destination &&
        button('Rows ↗', () => follow(rowsAddress(destination), { target: '_blank' }))}
      {destination && mayAsk(destination) && button('Compare', compare)}
      <span role="status" class="soft">
        {notice}
      </span>
    </footer>,
  ];
};

/** The whole panel. */
export const view = (shown: Shown, actions: Actions): Drawing[] => {
  const { chosen, fault, watched, isEmbedded } = shown;
  const { setFault } = actions;
  const { dock, isFolded } = chosen;
  return [
    <section
      key="panel"
      aria-label={`Inspector of ${watched.name}`}
      tabindex={-1}
      class={isFolded ? 'pill' : isEmbedded ? 'embedded' : dock}
    >
      {isFolded ? pill(shown, actions) : opened(shown, actions)}
    </section>,
    ...(fault
      ? [
          <div class="frame">
            <p>
              {`Fault on purpose: ${fault}`}
              {button('End', () => setFault(undefined))}
            </p>
          </div>,
        ]
      : []),
  ];
};
