import { refuse, type ErrorStatus } from './http/answers.js';

/** Why a request, or one of its records, is refused: for the answer, and for people. */
export interface Refusal {
  reason: 'token' | 'origin' | 'body' | 'field' | 'project' | 'size' | 'rate' | 'database';
  status: ErrorStatus;
  /** What is wrong and what to do, for a person. It may hold names that a stranger has sent. */
  message: string;
  /** How long the sender should wait, in milliseconds. */
  waitMs?: number;
  /** The field of a record that is wrong. */
  field?: string;
  /** The value of a record that is not in the lists. */
  unlisted?: 'project' | 'channel';
  /** The text that is refused, if there is no record yet. */
  sent?: string;
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
  reason: Refusal['reason'],
  message: string,
  more: Partial<Refusal> = {},
): Refusal => ({ reason, status: STATUS[reason], message, ...more });

export const isRefusal = (value: object): value is Refusal => 'reason' in value;

/**
 * The answer to a sender, in the form of the interface. The message of a 400 is fixed by the interface, so `detail`
 * says what is wrong. A 403 says what is not allowed: a page keeps such a record, and its developer has to see why.
 */
export const answerRefusal = ({ status, message, waitMs = 0 }: Refusal): Response =>
  refuse(status, {
    waitMs,
    ...(status === 403 && { message }),
    ...(status === 400 && { detail: message }),
  });
