import { nameOf, type Settings } from '../../client/options.js';
import { pageOrigin } from '../../client/page.js';
import type { Options } from '../../client/types.js';

/** Where records go, as far as the options tell. */
export interface Destination {
  /** Begins the names of all that is stored for it. */
  name: string;
  address: string;
  isRelay: boolean;
  /** Whether a record that may have arrived is sent again. */
  resends: boolean;
}

export const destinationOf = (options: Partial<Options> | undefined): Destination | undefined => {
  const { relay, baseUrl, project, idempotencyKey } = options ?? {};
  const given = relay ?? baseUrl;
  if (!given || !project) return undefined;
  const address = given.replace(/^\//, `${pageOrigin()}/`).replace(/\/+$/, '');
  const settings = { project, ...(relay ? { relay: address } : { baseUrl: address }) };
  return {
    name: nameOf(settings as Settings),
    address,
    isRelay: !!relay,
    resends: !!(relay ?? idempotencyKey),
  };
};

/** The address of the requests with records of a type. */
export const endpointOf = ({ address, isRelay }: Destination, type: string): string =>
  `${address}/v1/${isRelay ? 'batch' : type}`;

export const formOf = (destination: Destination | undefined): string =>
  destination ? (destination.isRelay ? 'relay' : 'direct') : '';
