import { mayFail } from '../util/may-fail.js';

/** The query of the address by which the page was opened: a router may have cleaned the address since. */
export const openedWith = (): string | undefined =>
  // There is no location on a server.
  mayFail(() => {
    const [entry] = performance.getEntriesByType('navigation');
    return new URL(entry?.name ?? location.href).search;
  });
