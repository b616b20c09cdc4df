import type { Analytics, Options, Status } from '../../src/client/types.js';
import { databaseNames, keysOfItems, removeItem } from '../../src/client/page.js';
import type { TabWindow } from './tab.js';

/** Pages with the tag, each in a frame: they can be left, crash and be opened again while the stage stays. */

export interface Tab {
  window: TabWindow;
  analytics: Analytics;
  frame: HTMLIFrameElement;
  /** The network as the page has it. */
  fetch: typeof fetch;
  /** Aborted once the page is gone, however that came. */
  gone: AbortSignal;
  end: () => void;
  /** Its clock is ahead by this much. */
  aheadMs: number;
}

/** What the visitor of the demo sees of the tab. */
export type TabState = 'opening' | 'open' | 'left' | 'crashed' | 'closed';

interface Effects {
  /** Address of the page, with a slash behind it. */
  home: string;
  options: () => Options;
  listen: (analytics: Analytics) => void;
  /** A button of the page was pressed. */
  onPress: (name: string, tab: Tab) => void;
  onChange: () => void;
}

const PREFIX = 'analytics-outbox ';
/** What stays as a scene begins: it is another tab, and not another visitor. */
const OF_THE_VISITOR = / (user|consent)$/;
const LEAVING = ['pagehide', 'visibilitychange', 'beforeunload'];
/** Storage that hangs must not hold up a scene. */
const OPENS_WITHIN_MS = 3_000;

const deleteDatabase = (name: string): Promise<void> =>
  new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = request.onerror = request.onblocked = () => resolve();
  });

/** The databases of outboxes of this site, where the browser tells them. */
export const outboxNames = async (): Promise<string[]> =>
  (await databaseNames().catch(() => [])).filter((name) => name.startsWith(PREFIX));

/** The inspector puts faults into the stage's own `fetch` and `sendBeacon`: then the tabs send through these. */
const ownFetch = globalThis.fetch;

export const createTabs = ({ home, options, listen, onPress, onChange }: Effects) => {
  const place = document.createElement('div');
  place.className = 'tabs-place';
  let open: Tab[] = [];
  let state: TabState = 'closed';
  let isOffline = false;
  /** The clocks of new tabs are ahead by this much. */
  let aheadMs = 0;

  const set = (next: TabState): void => {
    state = next;
    onChange();
  };
  const current = (): Tab | undefined => open[0];
  const statusOf = (tab: Tab | undefined): Status | undefined => tab?.analytics.status();

  /** So that the network can be taken away from the page. */
  const cutNetwork = ({ window }: Tab): void => {
    const { navigator } = window;
    const isOnLine = Object.getOwnPropertyDescriptor(window.Navigator.prototype, 'onLine')!.get!;
    const get = () => !isOffline && (isOnLine.call(navigator) as boolean);
    Object.defineProperty(navigator, 'onLine', { configurable: true, get });
    const { sendBeacon } = navigator;
    navigator.sendBeacon = (...given) =>
      !isOffline &&
      (Object.hasOwn(globalThis.navigator, 'sendBeacon')
        ? globalThis.navigator.sendBeacon(...given)
        : sendBeacon.apply(navigator, given));
  };
  const setClock = ({ window, aheadMs }: Tab): void => {
    const { now } = window.Date;
    window.Date.now = () => now() + aheadMs;
  };
  const fetchOf =
    (window: TabWindow): typeof fetch =>
    (...given) => {
      if (isOffline) return Promise.reject(new TypeError('Failed to fetch'));
      return ownFetch === globalThis.fetch ? window.fetch(...given) : fetch(...given);
    };
  const optionsOf = ({ fetch }: Tab): Options => ({ ...options(), fetch });

  /** Settles when the tracker is there, and knows where it keeps records. */
  const isReady = async (tab: Tab): Promise<void> => {
    const until = Date.now() + OPENS_WITHIN_MS;
    const isOpening = () =>
      /not-started/.test(`${statusOf(tab)?.paused}`) || statusOf(tab)?.storage === 'opening';
    while (isOpening() && Date.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 15));
  };

  /** A page has begun to load in a frame. Its stub is there, and its tracker not yet. */
  const adopt = (window: TabWindow): void => {
    const frame = window.frameElement as HTMLIFrameElement;
    const { analytics } = window;
    const life = new AbortController();
    const tab: Tab = {
      ...{ window, frame, analytics, fetch: fetchOf(window), aheadMs },
      ...{ gone: life.signal, end: () => life.abort() },
    };
    open = [...open.filter((other) => other.frame !== frame), tab];
    cutNetwork(tab);
    if (aheadMs) setClock(tab);
    listen(analytics);
    analytics.init(optionsOf(tab));
    window.addEventListener('click', ({ target }) => {
      const pressed = (target as Element).closest<HTMLElement>('[data-call]');
      if (pressed) onPress(pressed.dataset['call']!, tab);
    });
    window.addEventListener('pagehide', () => {
      tab.end();
      open = open.filter((other) => other !== tab);
      if (!open.length && state !== 'crashed' && state !== 'closed') set('left');
    });
    void isReady(tab).then(() => open.includes(tab) && set('open'));
  };
  addEventListener('tab', (event) => adopt((event as CustomEvent<TabWindow>).detail));

  const openTab = async (): Promise<Tab> => {
    const frame = document.createElement('iframe');
    frame.title = 'A page with the tag';
    frame.src = `${home}tab`;
    if (open.length) frame.tabIndex = -1;
    else place.replaceChildren();
    place.append(frame);
    if (!open.length) set('opening');
    await new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    const tab = open.find((other) => other.frame === frame);
    if (!tab) throw new Error('the page with the tag cannot be loaded');
    await isReady(tab);
    set('open');
    return tab;
  };

  const remove = (): void => {
    place.replaceChildren();
    for (const tab of open) tab.end();
    open = [];
  };

  return {
    place,
    state: () => state,
    current,
    all: (): readonly Tab[] => open,
    count: () => open.length,
    status: () => statusOf(current()),
    isOffline: () => isOffline,
    /** The tab that is there, if its clock is right, or a new one. */
    ensure: async (): Promise<Tab> => {
      const tab = current();
      if (tab && !tab.aheadMs) {
        await isReady(tab);
        return tab;
      }
      remove();
      return openTab();
    },
    open: openTab,
    /** Closes all tabs, as a visitor does. */
    close: (): void => {
      set('closed');
      remove();
    },
    /** Goes on to another page, in the task in which it is called. */
    leave: (): void => current()?.window.location.assign(`${home}away`),
    /** The tab ends without hearing of it, and with it whatever ran there. */
    crash: (): void => {
      for (const { window } of open)
        for (const type of LEAVING)
          window.addEventListener(type, (event) => event.stopImmediatePropagation(), true);
      set('crashed');
      remove();
    },
    /** Takes the trackers down, and deletes what they have stored: records, notes, the pause of all pages. */
    wipe: async (): Promise<void> => {
      for (const { analytics } of open) analytics.stop();
      set('closed');
      remove();
      isOffline = false;
      aheadMs = 0;
      for (const key of keysOfItems(PREFIX)) if (!OF_THE_VISITOR.test(key)) removeItem(key);
      await Promise.all((await outboxNames()).map(deleteDatabase));
    },
    /** Takes the network away from all tabs, or gives it back. */
    setOffline: (on: boolean): void => {
      isOffline = on;
      for (const { window } of open)
        window.dispatchEvent(new window.Event(on ? 'offline' : 'online'));
      onChange();
    },
    /** Tabs that are opened from now on take it to be so much later. */
    setClockAhead: (ms: number): void => void (aheadMs = ms),
    /** Gives all tabs the options anew: what waits for a good set-up goes on. */
    configure: (): void => {
      for (const tab of open) tab.analytics.init(optionsOf(tab));
      onChange();
    },
  };
};

export type Tabs = ReturnType<typeof createTabs>;
