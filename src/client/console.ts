import type { Listeners, OutboxRecord } from './types.js';

type Type = keyof Listeners;
/** Any of the payloads. Which one it is can be told by its members. */
type Payload = Partial<Listeners['drop'] & Listeners['outcome'] & Listeners['storage']> &
  Partial<Omit<Listeners['error'], 'message'>>;

const PREFIX = 'analytics-outbox: ';

/** Prints a warning that says what is wrong. */
export const warn = (message: string): void => console.warn(PREFIX + message);

/** Prints a line for a developer who has switched `debug` on. */
export const log = (what: string, ...more: unknown[]): void => console.log(PREFIX + what, ...more);

/** Reasons of drops that call for a change of the page's own code. */
const WRONG_CALL = /^(invalid|not-|too-large|before-send-error)/;

/** The kind of trouble, if a developer can do something about it. */
const troubleOf = ({ kind, reason, storage }: Payload): string | undefined => {
  if (kind) return kind;
  if (storage === 'memory') return storage;
  return WRONG_CALL.test(`${reason}`) ? 'call' : reason === 'rejected' ? reason : undefined;
};

/** Warns of each kind of trouble, once. */
export const createAdvice = () => {
  const told = new Set<string>();
  return (payload: unknown): void => {
    const { message = '', reason } = payload as Payload;
    const trouble = troubleOf(payload as Payload);
    if (!trouble || told.has(trouble)) return;
    told.add(trouble);
    if (trouble === 'memory') warn(`records are kept in memory until storage works: ${message}`);
    else warn(reason ? `a call was dropped (${reason}): ${message}` : message);
  };
};

const nameOf = ({ type, body }: OutboxRecord): string => {
  const { event, user_id } = JSON.parse(body || '{}') as Record<string, unknown>;
  return `${type} ${JSON.stringify(event ?? user_id)}`;
};

/**
 * Logs all events, for the option `debug`. Those of a record come as a group with all its steps so far: when the record
 * is made, and at the end of each attempt.
 */
export const createDebugLog = () => {
  const histories = new Map<string, [step: string, payload: unknown][]>();
  return (type: Type, payload: unknown): void => {
    const { record, outcome, reason } = payload as Payload;
    const subject = type === 'record' ? (payload as OutboxRecord) : record;
    if (!subject) return log(type, payload);
    const history = histories.get(subject.id) ?? [];
    const step = outcome ?? reason ?? type;
    history.push([step, payload]);
    histories.set(subject.id, history);
    if (type === 'sent') return;
    console.groupCollapsed(`${PREFIX}${nameOf(subject)}: ${step}`);
    for (const line of history) console.log(...line);
    console.groupEnd();
    if (!/^(record|retry|blocked)$/.test(step)) histories.delete(subject.id);
  };
};
