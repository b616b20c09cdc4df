import type { Consent, Status } from '../client/types.js';

/**
 * What an adapter needs of an instance, whatever its event map and its way to the service. An adapter reads `status` from
 * the instance at each call, since the tag's script replaces that of its stub. The other methods of the stub reach the
 * script.
 */
export interface Target {
  identify(this: void, userId: string, properties?: object): void;
  event(this: void, name: string, fields?: object): void;
  reset(this: void): void;
  status(this: void): Pick<Status, 'userId' | 'paused'>;
}

/** What an adapter of a tool needs that also asks for consent. */
export interface ConsentTarget extends Target {
  setConsent(this: void, consent: Consent): void;
  status(this: void): Pick<Status, 'userId' | 'paused' | 'consent'>;
}
