import type { EventBody, IdentifyBody, RecordType } from '../interface/bodies.js';

/** A record that has passed all checks, on its way to where it is kept. */
export interface Incoming {
  /** The record's id: the `Idempotency-Key`, or the id in a batch; a new one if the client gave none. */
  id: string;
  type: RecordType;
  body: EventBody | IdentifyBody;
  /** The body as JSON. It is written out once, where the record is checked, and passed on as it is. */
  text: string;
  /**
   * The time of the call by the client's clock, in ISO 8601, UTC; that of the arrival if nobody told it. A clock that is
   * ahead must not win over the calls of years to come, so an identify is not later than its arrival.
   */
  calledAt: string;
  /** ISO 8601, by the clock of the server. */
  receivedAt: string;
  /** An opaque word for the browser that sent it, which nobody can trace back to an address. */
  client?: string | undefined;
  /** An opaque word for the address that sent it, by which senders take turns; missing if addresses are not known. */
  sender?: string | undefined;
}

/**
 * The key of a record: an id belongs to one type of one project, so the same id in another type or project is another
 * record. It is JSON, so that no text in it can be taken for a boundary.
 */
export const keyOf = ({
  type,
  id,
  body: { project },
}: Pick<Incoming, 'type' | 'id' | 'body'>): string => JSON.stringify([type, project, id]);

/**
 * The line in which a record stands: that of one user of one project, as one sender tells of it. Identifies of a line
 * keep their order, and events come after the identifies before them. A record without a user, or with an empty one,
 * stands in no line.
 */
export const lineOf = ({ body, sender = '' }: Pick<Incoming, 'body' | 'sender'>): string =>
  body.user_id ? JSON.stringify([sender, body.project, body.user_id]) : '';
