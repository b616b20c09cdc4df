import { refuse } from './http/answers.js';
import type { Refused } from './store/port.js';

/** Why something was refused: what is kept of it for people, and what the client is answered. */
export interface Refusal {
  reason: Refused['reason'];
  status: 400 | 401 | 403 | 408 | 413 | 415 | 422 | 429 | 503;
  /** What is wrong and what to do, for a person. */
  message: string;
  waitMs?: number | undefined;
}

const STATUS = {
  token: 401,
  origin: 403,
  body: 400,
  field: 400,
  project: 403,
  size: 413,
  rate: 429,
  database: 422,
} as const;

export const refusalOf = (
  reason: Refused['reason'],
  message: string,
  status: Refusal['status'] = STATUS[reason],
  waitMs?: number,
): Refusal => ({ reason, status, message, waitMs });

/**
 * The answer to a client, in the interface's form. The text of a 400 is the one that the interface names. A 403 says
 * what is not allowed, since a page keeps such a record and its developer has to see why.
 */
export const answerRefusal = ({ status, message, waitMs }: Refusal): Response => {
  const response = refuse(status, {
    ...(status === 403 && { message }),
    ...(waitMs !== undefined && { waitMs }),
  });
  if (status === 401) response.headers.set('www-authenticate', 'Bearer');
  return response;
};
