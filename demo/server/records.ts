import type { EventBody as SentEvent } from '../../src/interface/bodies';

export type { IdentifyBody } from '../../src/interface/bodies';

/** An event as it may come: where it has no time, the service gives it one. */
export type EventBody = Omit<SentEvent, 'timestamp'> & Partial<Pick<SentEvent, 'timestamp'>>;
