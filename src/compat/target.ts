import type { Status } from '../client/types.js';

/** What an adapter needs of an instance, whatever its event map and its way to the service. */
export interface Target {
  identify(this: void, userId: string, properties?: object): void;
  event(this: void, name: string, fields?: object): void;
  reset(this: void): void;
  status(this: void): Pick<Status, 'userId' | 'paused'>;
}
