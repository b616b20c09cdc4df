import { messageOf } from '../errors.js';
import type { Tell } from './hooks.js';
import type { RelayOptions } from './relay-options.js';

/** By what clients are told apart. All that cannot be told apart are one client, without a name. */
export const createClientOf =
  ({ clientAddress }: Pick<RelayOptions, 'clientAddress'>, tell: Tell) =>
  (request: Request): string => {
    try {
      const address: unknown = clientAddress?.(request);
      return typeof address === 'string' ? address : '';
    } catch (error) {
      tell.error({ kind: 'hook', message: messageOf(error) });
      return '';
    }
  };
