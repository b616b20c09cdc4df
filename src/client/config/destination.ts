import type { Options } from '../types.js';

/**
 * The name of a destination's storage. It consists of address and project, so that records made for one destination
 * cannot be sent to another; never of the token. Its parts are separated by spaces, and contain none.
 */
export const destinationName = (address: string, project: string): string =>
  ['analytics-outbox', address.replace(/\/+$/, ''), project].map(encodeURI).join(' ');

/** Whether this key of localStorage is the consent of any destination of the project. */
export const isConsentKey = (key: string, project: string): boolean =>
  key.startsWith('analytics-outbox ') && key.endsWith(` ${encodeURI(project)} consent`);

/**
 * Where records go, and how. The same address is one destination as a relay and another as a service, since only
 * records for a relay may be sent again.
 */
export const addressOf = ({ relay, baseUrl = '' }: Pick<Options, 'relay' | 'baseUrl'>): string =>
  relay ? `relay:${relay}` : baseUrl;
