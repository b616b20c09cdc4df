import type { Listeners, OutboxRecord } from '../client/types.js';
import { nameOf } from './calls.js';
import { log } from './say.js';

type Payload = Partial<Listeners['drop'] & Listeners['outcome']>;

/**
 * Logs all events, for the option `debug`. Those of a record come as a group with all its steps so far: when the record
 * is made, and at the end of each attempt.
 */
export const createDebugLog = () => {
  const histories = new Map<string, [step: string, payload: unknown][]>();
  return (type: string, payload: unknown): void => {
    const { record, outcome, reason } = payload as Payload;
    const subject = type === 'record' ? (payload as OutboxRecord) : record;
    if (!subject) return log(type, payload);
    const history = histories.get(subject.id) ?? [];
    const step = outcome ?? reason ?? type;
    history.push([step, payload]);
    histories.set(subject.id, history);
    if (type === 'sent') return;
    console.groupCollapsed(`analytics-outbox: ${nameOf(subject)}: ${step}`);
    for (const line of history) console.log(...line);
    console.groupEnd();
    if (!/^(record|retry|blocked)$/.test(step)) histories.delete(subject.id);
  };
};
