import { outsideZone } from '../client/page.js';
import { mayFail } from '../util/may-fail.js';

/** How long a change of the address may go unseen that no listener hears of. */
const LATE_MS = 500;

/** The address by which the page was opened: a router may have cleaned it since. */
export const openedWith = (): string | undefined =>
  // There is no location on a server.
  mayFail(() => performance.getEntriesByType('navigation')[0]?.name ?? location.href);

/** The parameters of an address: of its query, and of one behind its hash, and where a mail has `&amp;` for `&`. */
export const parametersOf = (address = ''): URLSearchParams =>
  new URLSearchParams(address.replace(/&amp;|[?#]/g, '&'));

/** Listens to some types of events until all ends, or until what it returns is called. */
export type Listen = <Heard extends Event>(
  target: EventTarget,
  types: string,
  listener: (event: Heard) => void,
) => () => void;

/** Calls after each change of the address within this document. */
export const followAddress = (
  listen: Listen,
  onEnd: (end: () => void) => void,
  changed: (isReplaced?: boolean) => void,
): void => {
  // https://html.spec.whatwg.org/#navigation-api. An element with this id is no such thing.
  const { navigation } = globalThis as { navigation?: EventTarget & { currentEntry?: object } };
  if (navigation?.currentEntry) {
    listen<Event & { navigationType?: string }>(
      navigation,
      'currententrychange',
      ({ navigationType }) => changed(navigationType === 'replace'),
    );
    return;
  }

  listen(window, 'popstate hashchange', () => changed());
  // A router may have taken `pushState` before it was replaced here, or take it from `History.prototype`.
  const timer = setInterval(changed, LATE_MS);
  onEnd(() => clearInterval(timer));
  for (const method of ['pushState', 'replaceState'] as const) {
    const original = history[method];
    let isOver = false;
    const own: typeof original = (...args) => {
      original.apply(history, args);
      // In the zone of a router, the timers of a view would make Angular check the page.
      if (!isOver) outsideZone(() => changed(method === 'replaceState'));
    };
    history[method] = own;
    onEnd(() => {
      isOver = true;
      // Another script may have put its own around it.
      if (history[method] === own) history[method] = original;
    });
  }
};
