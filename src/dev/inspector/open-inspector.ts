import { createHost } from './host.js';
import { isPage, memberOf, outsideZone } from '../../client/page.js';
import { copyText } from '../../show/copy-text.js';
import { mayFail } from '../../util/may-fail.js';
import { FLAG } from '../offer-inspector.js';
import { createWatched, ofPage, type Panel, type Tracked, type Watched } from '../watched.js';
import { destinationOf, endpointOf } from './destination.js';
import { draw } from './dom.js';
import { createFaults } from './faults.js';
import { inspect, type Inspection } from './inspect.js';
import { isTicking } from './line-words.js';
import { storedIds } from './service-rows.js';
import { view, type Actions, type Chosen } from './view.js';

/** What is shown is drawn again after this time, while something counts down; else after a second. */
const TICK_MS = 100;
const REST_MS = 1_000;
/** After something was told, the database is read this much later. */
const READ_MS = 150;
const NOTICE_MS = 4_000;

/** How the inspector is opened. */
export interface InspectorOptions {
  /** The tracker to show. @default the one that was started last */
  analytics?: Tracked;
  /** An element to be in, rather than at the right of the window. */
  into?: Element;
}

/** An inspector that is open. */
export interface Inspector {
  /** Closes it, and ends a fault on purpose. */
  close: () => void;
}

/** Instances that have been started; the last one if none has. */
const startedOf = (all: Watched[]): Watched[] => {
  const started = all.filter(({ inits }) => inits);
  return started.length ? started : all.slice(-1);
};

/** Words for the frame that the page is in. */
const frameName = (): string =>
  window.top === window ? '' : `frame ${window.name || location.pathname}`;

const openPanel = ({ analytics, into }: InspectorOptions): Panel => {
  const page = ofPage();
  const before = memberOf(document, 'activeElement') as HTMLElement | null;
  const given = analytics && [...page.watched].find((one) => one.analytics === analytics);
  const extra = analytics && !given ? createWatched('analytics', analytics, false) : undefined;
  const all = () => (extra ? [extra] : startedOf([...page.watched]));

  let inspection: Inspection | undefined;
  /** Where the page keeps open, the panel comes back in the place that it had. */
  const kept = () => mayFail(() => localStorage.getItem(FLAG)) ?? '';
  let chosen: Chosen = {
    ...{ tab: 'Records', notice: '' },
    dock: /below/.test(kept()) ? 'below' : 'right',
    isFolded: !into && /folded/.test(kept()),
  };
  let rows: Set<string> | undefined;
  /** How many were delivered as the service was asked. */
  let compared = 0;
  let isClosed = false;
  let isDue = false;
  let readAt = 0;
  type Timer = ReturnType<typeof setTimeout> | undefined;
  let ticking: Timer;
  let reading: Timer;
  let noticing: Timer;

  const destination = () => destinationOf(inspection?.watched.options);
  const faults = createFaults((address) => {
    const ours = destination();
    return !!ours && ['event', 'identify'].some((type) => endpointOf(ours, type) === address);
  });

  const drawNow = () => {
    isDue = false;
    if (isClosed) return;
    clearTimeout(ticking);
    let rest = REST_MS;
    mayFail(() => {
      if (!inspection) pick(all().at(-1));
      if (!inspection) return;
      const snapshot = inspection.look();
      const { now, reason, lines } = snapshot;
      if (reason.until! > now || lines.some((line) => isTicking(line, now, line.due)))
        rest = TICK_MS + lines.length / 2; // a long list costs more
      const shown = { ...snapshot, chosen, rows, all: all(), frame: frameName() };
      const more = { fault: faults.current(), isKeptOpen: !!kept(), isEmbedded: !!into };
      draw(host.root, view({ ...shown, ...more }, actions));
    });
    ticking = setTimeout(tick, rest);
  };
  /** Draws once for all that comes before the next frame. A hidden page has none, and nobody looks at it. */
  const drawSoon = () => {
    if (!isDue && !isClosed) isDue = !!requestAnimationFrame(drawNow);
  };
  const read = () => {
    reading = undefined;
    readAt = Date.now();
    void inspection?.read();
    if (!rows || !inspection) return;
    // What was compared once stays compared.
    const { delivered } = inspection.watched.analytics.status();
    if (compared !== delivered) actions.compare();
    compared = delivered;
  };
  const tick = () => {
    if (Date.now() - readAt > REST_MS) read();
    drawSoon();
  };
  const onTold = () => {
    reading ??= setTimeout(read, READ_MS);
    drawSoon();
  };
  const choose = (next: Partial<Chosen>) => {
    chosen = { ...chosen, ...next };
    drawSoon();
  };
  const notify = (notice: string) => {
    clearTimeout(noticing);
    choose({ notice });
    noticing = setTimeout(() => choose({ notice: '' }), NOTICE_MS);
  };
  const pick = (watched: Watched | undefined) => {
    inspection?.stop();
    inspection = watched && inspect(watched, onTold);
    rows = undefined;
    tick();
  };

  const actions: Actions = {
    choose,
    pick,
    place: (next) => {
      choose(next);
      if (kept()) actions.keepOpen(true);
      panel.focus();
    },
    close: () => panel.close(),
    flush: () =>
      void inspection?.watched.analytics
        .flush()
        .then(({ delivered, waiting }) => notify(`${delivered} delivered, ${waiting} wait`)),
    copy: (text, holds = '') =>
      void copyText(text, host.root).then((isDone) =>
        notify(isDone ? `Copied. ${holds}` : 'Not copied.'),
      ),
    compare: () =>
      void storedIds(destination()!)
        .catch(() => undefined)
        .then((ids) => {
          rows = ids;
          notify(ids ? '' : 'No rows of this browser there.');
        }),
    setFault: (fault) => {
      faults.set(fault);
      drawSoon();
    },
    keepOpen: (isKept) => {
      const place = `${chosen.dock}${chosen.isFolded ? ' folded' : ''}`;
      mayFail(() => (isKept ? localStorage.setItem(FLAG, place) : localStorage.removeItem(FLAG)));
      drawSoon();
    },
  };

  const panel: Panel = {
    into,
    focus: () => host.root.querySelector('section')?.focus(),
    close: () => {
      if (isClosed) return;
      isClosed = true;
      faults.set(undefined);
      for (const timer of [ticking, reading, noticing]) clearTimeout(timer);
      inspection?.stop();
      page.panel = undefined;
      const hadFocus = host.root.activeElement;
      host.remove();
      if (hadFocus) mayFail(() => before?.focus());
    },
  };
  const host = createHost(into, (isRemoved) => {
    if (isRemoved || !into) panel.close();
  });
  page.panel = panel;
  pick(extra ?? given);
  drawNow();
  return panel;
};

/**
 * Shows what the page has in its outbox: each record's life, why nothing is sent, and what would become of all that if
 * the page were closed. One panel is open at a time.
 * @example const { close } = openInspector();
 * @example openInspector({ into: document.querySelector('#inspector') });
 */
export const openInspector = (options: InspectorOptions = {}): Inspector => {
  if (!isPage()) return { close: () => undefined };
  const { analytics, into } = options;
  const { panel } = ofPage();
  if (panel && !analytics && (!into || into === panel.into)) return panel;
  panel?.close();
  return outsideZone(() => openPanel(options));
};
