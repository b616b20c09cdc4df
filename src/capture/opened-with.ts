import { attempt } from '../interface/attempt.js';

/** The query of the address by which the page was opened: a router may have cleaned the address since. */
export const openedWith = (): string | undefined =>
  // There is no location on a server.
  attempt(() => {
    const [entry] = performance.getEntriesByType('navigation');
    return new URL(entry?.name ?? location.href).search;
  });
