import type { Status } from '../../src/client/types.js';
import { DEMO_ID } from './calls.js';
import type { FaultRule } from '../server/fault-rules.js';
import type { TabState } from './tabs.js';

/** Time from now as a person would say it; tenths while they matter. */
export const lengthOf = (ms: number): string => {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};

interface Look {
  tab: TabState;
  status: Status | undefined;
  /** The last answers: a status, or 0 for none. */
  answers: readonly number[];
  /** The page that has the token cannot reach its own server. */
  isReached: boolean | undefined;
  /** What the service has been told to do wrong. */
  fault: FaultRule | undefined;
  now: number;
}

export interface Reason {
  tone: 'good' | 'wait' | 'bad' | 'quiet';
  words: string;
  /** Milliseconds to the next attempt. */
  nextMs?: number;
}

const answerWords = (answers: readonly number[]): string => {
  const last = answers.filter((status) => status < 200 || status > 299).at(-1);
  if (last === 401 || last === 403) return `The service refuses the token (${last}).`;
  return last ? `The service answers ${last}.` : 'The service does not answer.';
};

const faultWords = ({ status, hang, reset, delay, match, after }: FaultRule): string => {
  const whom = match?.property === DEMO_ID ? '' : ' to one record';
  if (status) return `${answerWords([status]).slice(0, -1)}${whom}.`;
  if (hang) return 'The service leaves one request without an answer.';
  if (reset) return after ? 'The service loses one answer.' : 'The service resets connections.';
  return `The service takes ${lengthOf(delay ?? 0)} to answer.`;
};

/** Why nothing is sent, or that all is well. */
export const reasonOf = ({ tab, status, answers, isReached, fault, now }: Look): Reason => {
  if (isReached === false) return { tone: 'bad', words: 'The demo has ended: `npm start` again.' };
  if (tab === 'crashed')
    return { tone: 'bad', words: 'The tab has crashed. Its outbox is still on the disk.' };
  if (tab === 'left') return { tone: 'wait', words: 'The page is gone. Its outbox stays.' };
  if (tab !== 'open' || !status) return { tone: 'quiet', words: 'Opening the page …' };
  const { consent, paused, nextAttempt, inFlight, storage } = status;
  if (consent === 'denied') return { tone: 'bad', words: 'Consent is denied: calls are dropped.' };
  if (consent === 'pending')
    return { tone: 'wait', words: 'Consent is pending: calls are held in memory.' };
  if (paused === 'offline')
    return { tone: 'wait', words: 'No network. Calls wait in the outbox until it is back.' };
  if (paused && nextAttempt !== undefined) {
    const words = fault?.status ? faultWords(fault) : answerWords(answers);
    return { tone: 'wait', words, nextMs: Math.max(0, nextAttempt - now) };
  }
  if (paused) return { tone: 'wait', words: `Delivery is paused: ${paused}.` };
  if (storage === 'memory')
    return { tone: 'wait', words: 'Without a database: calls are kept in memory, and sent.' };
  if (fault) return { tone: 'wait', words: faultWords(fault) };
  if (inFlight) return { tone: 'good', words: 'Sending.' };
  return { tone: 'good', words: 'The service is well.' };
};

/** Objects longer than this get a line for each of their members. */
const WIDTH = 40;

/** A call as one would write it in a page's code. */
export const callCode = (method: string, args: readonly unknown[]): string =>
  `analytics.${method}(${args.map((arg) => literal(arg, '')).join(', ')})`;

/** JavaScript, not JSON: names go without quotes where they may. */
const literal = (value: unknown, indent: string): string => {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  // While a time is typed it may be none, which has no JSON.
  if (value instanceof Date) return `new Date(${literal(value.toJSON() ?? NaN, '')})`;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(([name, part]) =>
    isList ? literal(part, inner) : `${nameOf(name)}: ${literal(part, inner)}`,
  );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  const line = isList ? `[${parts.join(', ')}]` : `{ ${parts.join(', ')} }`;
  if (line.length <= WIDTH && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
};

const nameOf = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name, '');
