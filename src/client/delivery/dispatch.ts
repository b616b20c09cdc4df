import type { Outbox } from '../outbox/outbox.js';
import type { Entry } from '../outbox/parcel.js';
import type { OutboxRecord } from '../types.js';
import type { Batching } from './batching.js';
import type { Choice } from './choice.js';
import type { Conclude } from './conclusions.js';
import type { Gate } from './gate.js';
import type { Health } from './health.js';
import type { Requests } from './requests.js';
import type { Sender } from './sender.js';

/** Other pages wait this long for the page that probes. */
const PROBE_MS = 5_000;

interface Effects {
  outbox: Pick<Outbox, 'prepare' | 'canSend' | 'begin'>;
  sender: Pick<Sender, 'send' | 'room'>;
  gate: Gate;
  health: Health;
  batching: Batching;
  requests: Requests;
  conclude: Conclude;
  choice: Choice;
  isHidden: () => boolean;
  onSent: (record: OutboxRecord, handoff: boolean) => void;
  /** A request has come to its end, and left its place free. */
  onFree: () => void;
}

/** Starts requests, and sees them to their end. */
export const createDispatch = (effects: Effects) => {
  const { outbox, sender, gate, health, batching, requests, conclude, choice } = effects;
  const { isHidden, onSent, onFree } = effects;

  const start = async (group: Entry[], handoff: boolean): Promise<void> => {
    const started = health.begin();
    requests.begin(started, group);
    const records = group.map(({ record }) => record);
    const size = batching.weigh(group);
    const keepalive = size <= sender.room();
    for (const entry of group) outbox.begin(entry, keepalive);
    const sending = sender.send(records, { size, keepalive });
    for (const record of records) onSent(record, handoff);
    const sent = await sending;
    if (!requests.end(started)) return; // delivery was stopped
    conclude(group, sent, started);
    // What a page that goes away has given to the browser is not for it to send again.
    if (sent || !isHidden()) onFree();
  };

  return {
    /**
     * Starts what is due and may go now. Answers with the number of requests that are due, and with what the
     * rest of them waits for.
     */
    due: (time: number, horizon: number): { due?: number; prepared?: Promise<unknown> } => {
      const isProbing = health.isProbing();
      const limit = Math.min(
        health.width() - requests.filter(health.isCurrent),
        requests.places(time),
      );
      if (limit <= 0) return {};
      const groups = choice.next(time, horizon, limit, isProbing);
      // A hidden page may be gone before the database has been prepared.
      const prepared = isHidden() ? undefined : outbox.prepare(groups.flat());
      for (const group of groups.filter((group) => group.every(outbox.canSend))) {
        if (gate.isDoubtful()) gate.reserve(PROBE_MS);
        void start(group, false);
      }
      return { due: groups.length, ...(prepared && { prepared }) };
    },
    /** Gives the browser what it takes from a page that goes away. */
    leaving: (time: number, horizon: number): void => {
      void outbox.prepare([]); // there is no time to wait for what was being prepared
      for (const group of choice.leaving(time, horizon)) void start(group, true);
    },
  };
};

export type Dispatch = ReturnType<typeof createDispatch>;
