import type { Consent, Status } from '../client/types.js';

/**
 * What an adapter needs of an instance, whatever its event map and its way to the service. `status` is asked for at each
 * call: that of the tag's stub is another until the script has come. What is called before reaches the script all the same.
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
