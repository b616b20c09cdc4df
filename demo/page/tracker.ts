import type { Analytics } from '../../src/client/types.js';

/** The stub has no `status`: until the script has arrived there is none. */
type Global = Omit<Analytics, 'status'> & Partial<Pick<Analytics, 'status'>>;

/** What the script tag has put on the page; the stub first, then the tracker. Ask anew each time. */
export const tracker = (): Global => (window as unknown as { analytics: Global }).analytics;

/** Whether the script has arrived. */
export const hasArrived = (): boolean => typeof tracker().status === 'function';
