import type { KeptRecord } from '../../client/outbox/parcel.js';
import type { Drop, Listeners, OutboxRecord } from '../../client/types.js';
import { iconOf } from '../../show/summary.js';
import { mayFail } from '../../util/may-fail.js';
import type { Unfinished } from '../watched.js';

/** One request with the record. */
export interface Try {
  sentAt: number;
  /** The page was hidden or on its way out. */
  handoff: boolean;
  endedAt?: number;
  /** Of the answer; 0 if there was none. */
  status?: number;
}

/** The life of one record, or of a call that became none. */
export interface Line {
  id: string;
  type: string;
  name: string;
  /** Text on the wire; empty if the call never became a record. */
  body: string;
  calledAt: number;
  /** Requests before the inspector was opened. */
  earlier: number;
  /** When it was first seen in the outbox. */
  storedAt?: number;
  tries: Try[];
  /** Not sent again before this time. */
  due: number;
  end?: { at: number; what: 'delivered' | 'dropped' | 'unknown' | 'elsewhere'; message: string };
  /** Grows with each change. */
  version: number;
}

const MOST = 1_000;
const MANY = 100;

export const bodyOf = ({ body }: { body: string }): Record<string, unknown> =>
  mayFail(() => JSON.parse(body) as Record<string, unknown>) ?? {};

/** How a person would call a record. */
const nameOf = (record: OutboxRecord): string => {
  const { event, icon, user_id } = bodyOf(record);
  return record.type === 'identify'
    ? `identify ${user_id as string}`
    : `${iconOf(icon)} ${event as string}`.trimStart();
};

/** The request of a line that has no answer yet. */
export const openTry = ({ tries, end }: Line): Try | undefined => {
  const last = tries.at(-1);
  return end || last?.endedAt ? undefined : last;
};

/** Requests with the record so far. */
export const attemptsOf = ({ earlier, tries }: Line): number => earlier + tries.length;

/** Keeps the lines of records, from the steps of their tracker. */
export const createLines = (now: () => number = Date.now) => {
  const lines = new Map<string, Line>();
  /** Ids of what this page has made or sent. */
  const own = new Set<string>();
  let refused = 0;

  const lineOf = (record: KeptRecord): Line => {
    const { id, type, body, at: calledAt, attempts: earlier, due = 0 } = record;
    const line = lines.get(id) ?? {
      ...{ id, type, body, calledAt, earlier, due },
      ...{ name: body ? nameOf(record) : 'a call', tries: [], version: 0 },
    };
    line.version++;
    lines.set(id, line);
    if (lines.size > MOST) {
      // Many at a time, so that a burst costs no walk for each. What has ended goes first.
      const all = [...lines.values()];
      const first = [...all.filter(({ end }) => end), ...all].slice(0, MANY);
      for (const { id } of first) lines.delete(id);
      lines.set(id, line);
    }
    return line;
  };
  const finish = (line: Line, what: NonNullable<Line['end']>['what'], message = ''): void => {
    line.end ??= { at: now(), what, message };
  };

  const handlers: { [Type in keyof Listeners]?: (detail: Listeners[Type]) => unknown } = {
    record: lineOf,
    sent: ({ record, handoff }) => {
      const line = lineOf(record);
      if (!line.tries.length) line.earlier = record.attempts - +!handoff;
      line.tries.push({ sentAt: now(), handoff });
    },
    outcome: ({ record, outcome, status = 0 }) => {
      const line = lineOf(record);
      const last = line.tries.at(-1);
      if (last && outcome !== 'unknown') Object.assign(last, { endedAt: now(), status });
      const { due = 0 }: KeptRecord = record;
      line.due = due;
      if (outcome === 'delivered' || outcome === 'unknown') finish(line, outcome);
    },
    drop: ({ reason, message, record }) =>
      finish(
        lineOf(
          record ?? { id: `refused ${++refused}`, type: 'event', body: '', at: now(), attempts: 0 },
        ),
        'dropped',
        message === reason ? reason : `${reason}: ${message}`,
      ),
  };

  return {
    isOwn: (id: string): boolean => own.has(id),
    /** Newest first. */
    all: (): Line[] => [...lines.values()].reverse().sort((a, b) => b.calledAt - a.calledAt),
    /** What the page has in its care as the inspector is opened. */
    begin: (unfinished: Iterable<Unfinished>): void => {
      for (const { record, sentAt } of unfinished) {
        own.add(record.id);
        const line = lineOf(record);
        if (!sentAt) continue;
        line.earlier = Math.max(0, line.earlier - 1);
        line.tries.push({ sentAt, handoff: false });
      }
    },
    tell: (what: string, detail: unknown): void => {
      const { id, record } = (detail ?? {}) as Partial<OutboxRecord & Drop>;
      own.add(record?.id ?? id!);
      (handlers as Partial<Record<string, (detail: unknown) => void>>)[what]?.(detail);
    },
    /**
     * Takes what the outbox has stored for this page. A line that was there and is not any more, though nothing was
     * told of its end, is another page's now.
     */
    stored: (records: readonly OutboxRecord[], isComplete: boolean): void => {
      const ids = new Set<string>();
      for (const record of records) {
        ids.add(record.id);
        const line = lines.get(record.id) ?? lineOf(record);
        if (line.storedAt) continue;
        line.storedAt = now();
        line.version++;
      }
      for (const line of isComplete ? lines.values() : []) {
        if (line.end || !line.storedAt || ids.has(line.id) || openTry(line)) continue;
        finish(line, 'elsewhere', 'another page has it now');
        line.version++;
      }
    },
  };
};
