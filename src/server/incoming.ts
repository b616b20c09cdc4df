import type { EventBody, IdentifyBody, RecordType } from '../interface/bodies.js';

/** A record that has passed all checks, from then on until it is stored or passed on. */
export interface Incoming {
  /** The record's id: the `Idempotency-Key`, or the id in a batch; a new one if the client gave none. */
  id: string;
  type: RecordType;
  body: EventBody | IdentifyBody;
  /** The body as JSON. The check writes it, and nothing after it writes it again. */
  text: string;
  /**
   * The time of the call by the client's clock, in ISO 8601, UTC; if it is not known, the time of the arrival. For an
   * identify it is never later than the arrival: one with a clock that is ahead would win over all calls of the next
   * years.
   */
  calledAt: string;
  /** ISO 8601, by the clock of the server. */
  receivedAt: string;
  /** An opaque word for the browser that sent it. Nobody can find its address from it. */
  client?: string | undefined;
  /** An opaque word for the address that sent it, by which senders take turns. Missing if addresses are not known. */
  sender?: string | undefined;
  /** A server has sent it by token, so it never was in a browser. */
  fromServer?: true | undefined;
}

/**
 * The key of a record: an id belongs to one type of one project, so the same id in another type or project is another
 * record. It is JSON, so that no text in it can be taken for a boundary.
 */
export const keyOf = ({
  type,
  id,
  body: { project },
}: Pick<Incoming, 'type' | 'id'> & { body: { project: string } }): string =>
  JSON.stringify([type, project, id]);

/**
 * The line of a record: all records of one user in one project from one sender. The identifies of a line keep their
 * order, and its events come after the identifies before them. A record without a user is in no line.
 */
export const lineOf = ({ body, sender = '' }: Pick<Incoming, 'body' | 'sender'>): string =>
  body.user_id ? JSON.stringify([sender, body.project, body.user_id]) : '';

/** After this many failures an identify no longer holds up events of its user, which have the user's id, too. */
export const PATIENCE = 3;
