import type { ClientOptions } from './http/client.js';
import { createNetworks } from './http/networks.js';

/** Options that say whose records are not kept. Their senders are answered that all was accepted. */
export interface IgnoringOptions extends ClientOptions {
  /**
   * Addresses and networks of one's own visits, such as `192.0.2.1` and `2001:db8::/48`. Records from there are counted,
   * and go nowhere. Needs `clientAddress`. @default none
   */
  ignoreAddresses?: readonly string[] | undefined;
  /**
   * What becomes of records whose browser sends Global Privacy Control (`Sec-GPC: 1`): `'keep'` treats them as all others,
   * and `'drop'` counts them, and they go nowhere. @default 'keep'
   */
  gpc?: 'keep' | 'drop' | undefined;
}

/** Why the records of a request are ignored. It is their outcome in the metric `records`. */
export type Ignored = 'ignored_address' | 'ignored_gpc';

/** Says why the records of a request are ignored, if they are. */
export const createIgnoring = ({ ignoreAddresses = [], gpc, clientAddress }: IgnoringOptions) => {
  const isOwn = createNetworks(ignoreAddresses);
  return (request: Request): Ignored | undefined => {
    const address = ignoreAddresses.length ? clientAddress?.(request) : undefined;
    if (address && isOwn(address)) return 'ignored_address';
    return gpc === 'drop' && request.headers.get('sec-gpc') === '1' ? 'ignored_gpc' : undefined;
  };
};
