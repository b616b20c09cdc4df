import type { EventBody, IdentifyBody } from '../../../src/interface/bodies.js';
import type { Incoming } from '../../../src/server/incoming.js';

const TIME = '2026-03-01T12:00:00.000Z';

/** With the text that its body has. */
const withText = (record: Omit<Incoming, 'text'>): Incoming => ({
  ...record,
  text: JSON.stringify(record.body),
});

export const incomingEvent = (
  record: Partial<Incoming> = {},
  body: Partial<EventBody> = {},
): Incoming =>
  withText({
    ...{ id: 'id', type: 'event', calledAt: TIME, receivedAt: TIME },
    body: { project: 'p', channel: 'c', event: 'e', timestamp: TIME, ...body },
    ...record,
  });

/** Events with the ids `e<n>`, from one number on and before another one. */
export const incomingEvents = (from: number, to: number): Incoming[] =>
  Array.from({ length: to - from }, (_, n) => incomingEvent({ id: `e${from + n}` }));

export const incomingIdentify = (
  record: Partial<Incoming> = {},
  body: Partial<IdentifyBody> = {},
): Incoming =>
  withText({
    ...{ id: 'id', type: 'identify', calledAt: TIME, receivedAt: TIME },
    body: { project: 'p', user_id: 'u', properties: {}, ...body },
    ...record,
  });
