import { messageOf } from '../../interface/errors.js';
import { clientKeyOf } from './client-key.js';
import type { TellHook } from '../hooks.js';
import type { RelayOptions } from './relay-options.js';

/** The key by which clients are told apart. All requests that have none count as one client, ''. */
export const createClientOf =
  ({ clientAddress }: Pick<RelayOptions, 'clientAddress'>, tell: TellHook) =>
  (request: Request): string => {
    try {
      return clientKeyOf(clientAddress?.(request)) ?? '';
    } catch (error) {
      tell.error({ kind: 'hook', message: messageOf(error) });
      return '';
    }
  };
