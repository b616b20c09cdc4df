import { MAX_LEVELS } from '../interface/is-deeper.js';
import { FIELDS } from '../interface/validate.js';
import type { BatchResult } from '../interface/wire.js';
import type { Tell } from './hooks.js';
import type { ClaimedRecord } from './records.js';

/** A request, or one record of a request, that the relay itself refuses. */
export interface Refusal {
  request: Request;
  /** Status of the answer, or of the record's result. */
  status: number;
  /** What is wrong, in words. It may hold names that the client has sent. */
  message: string;
  /** The record as it came; undefined where the whole request is refused. */
  record?: ClaimedRecord;
}

export type OnRefused = (refusal: Refusal) => void;

const wordsOf = (
  { type, body }: ClaimedRecord,
  { unlisted, field = '', status }: BatchResult,
): string => {
  if (unlisted) {
    const value = JSON.stringify((body as Record<string, unknown>)[unlisted]);
    return `${unlisted} ${value} is not in the list \`${unlisted}s\` of the relay`;
  }
  if (status === 413) return 'the record is larger than 65,536 bytes';
  if (field === 'type') return 'type must be "identify" or "event"';
  const kind = FIELDS[type as keyof typeof FIELDS][field];
  if (!kind) return `the body must be an object, ${MAX_LEVELS} levels at the most`;
  // One that is of its kind, and refused all the same, is too long.
  const isTooLong = kind.fits((body as Record<string, unknown>)[field]);
  return `${field} must ${isTooLong ? 'have 1,024 bytes at the most' : `be ${kind.words}`}`;
};

/** A visitor can invent any number of values, of any length. */
const MAX_VALUES = 100;
const MAX_VALUES_OF_CLIENT = 5;
const MAX_LENGTH = 64;
const DAY_MS = 86_400_000;

interface Effects {
  onRefused: OnRefused | undefined;
  tell: Tell;
  now: () => number;
}

/** Tells the operator of what the relay itself refuses. */
export const createRefusals = ({ onRefused, tell, now }: Effects) => {
  const call = (refusal: Refusal): void => tell.call('onRefused', () => onRefused?.(refusal));
  /** Values that the lists lack and that have been named since then, and for which client. */
  const named = new Map<string, string>();
  let since = now();

  /**
   * Names each value once a day. One client alone cannot use up what is named in a day, so a visitor cannot easily hide a
   * value that is really missing.
   */
  const tellUnlisted = (field: 'project' | 'channel', value: string, client: string): void => {
    if (Math.abs(now() - since) >= DAY_MS) {
      named.clear();
      since = now();
    }
    const name = `${field} ${inWords(value)}`;
    if (named.size >= MAX_VALUES || named.has(name)) return;
    const ofClient = [...named.values()].filter((one) => one === client).length;
    if (client && ofClient >= MAX_VALUES_OF_CLIENT) return;
    named.set(name, client);
    const more = named.size === MAX_VALUES ? '; no other value is named today' : '';
    tell.error({ kind: 'unlisted', message: `${name} is not in the list \`${field}s\`${more}` });
  };

  return {
    /** Of one record. The client is empty where clients cannot be told apart. */
    record: (
      request: Request,
      record: ClaimedRecord,
      { result, client }: { result: BatchResult; client: string },
    ): void => {
      const { unlisted, status } = result;
      if (onRefused) call({ request, record, status, message: wordsOf(record, result) });
      if (unlisted)
        tellUnlisted(unlisted, (record.body as Record<string, string>)[unlisted]!, client);
    },
    /** Of a whole request; not where the relay is busy or failing, since then it comes again. */
    answer: async (request: Request, response: Response): Promise<void> => {
      const { status } = response;
      if (!onRefused || status < 400 || status > 499) return;
      const { message } = (await response.clone().json()) as { message: string };
      call({ request, status, message });
    },
  };
};

/** Without control characters and invisible ones, which could deceive who reads a log. */
const inWords = (value: string): string =>
  JSON.stringify(value.slice(0, MAX_LENGTH).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u{fffd}'));
