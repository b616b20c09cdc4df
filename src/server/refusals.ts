import { mayFail } from '../util/may-fail.js';
import type { RefusedCounter } from './health/refused-counter.js';
import type { Tell } from './hooks.js';
import { createRateLimit } from './http/admission.js';
import type { Refused } from './receive.js';
import type { Setup } from './setup.js';
import type { NewRefused, Store } from './store/port.js';
import { refusedText } from './store/refused-bounds.js';

/** How many refused requests and records are kept. The others are only counted. */
const OF_CLIENT = { perSecond: 5, burst: 50 };
const OF_ALL = { perSecond: 20, burst: 200 };
/** Reasons that concern the sender and not a record. */
const OF_SENDER: readonly NewRefused['reason'][] = ['token', 'origin'];
/** Characters of a name by which it can be found. */
const MAX_NAME = 1_024;

interface Parts {
  store: Pick<Store, 'refuse'>;
  setup: Pick<Setup, 'failed'>;
  /** The word that stands for a browser. */
  browserOf: (request: Request) => Promise<string | undefined>;
  /** Counts each, whether it is kept or not. */
  counts: Pick<RefusedCounter, 'count'>;
  tell: Tell;
  now: () => number;
}

const known = (name: string, value: unknown): Record<string, string> =>
  typeof value === 'string' ? { [name]: value } : {};

const projectOf = ({ body }: Refused): string => {
  const { project } = (body ?? {}) as { project?: unknown };
  return typeof project === 'string' ? project : '';
};

/** What is kept of something that was refused. A body that is too deep for JSON is left out. */
const detailsOf = ({ refusal, id, type, body }: Refused): Partial<NewRefused> => {
  const { project, user_id: user } = (body ?? {}) as Record<string, unknown>;
  // A number was meant as a text, and is found and erased by its text.
  const name = (given: unknown) =>
    typeof given === 'string' || typeof given === 'number'
      ? String(given).slice(0, MAX_NAME)
      : undefined;
  return {
    ...known('id', id),
    ...known('type', type),
    ...known('project', name(project)),
    ...known('user_id', name(user)),
    ...known('body', refusal.sent ?? mayFail(() => JSON.stringify(body))),
  };
};

/** Keeps refused requests and records for people to see. A flood of them costs little, and no answer waits for this. */
export const createRefusals = ({ store, setup, browserOf, counts, tell, now }: Parts) => {
  const ofClient = createRateLimit(OF_CLIENT, now);
  const ofAll = createRateLimit(OF_ALL, now);
  const underWay = new Set<Promise<void>>();

  const keep = async (refused: Refused): Promise<void> => {
    const { reason, status, message } = refused.refusal;
    const received_at = new Date(now()).toISOString();
    const client = await browserOf(refused.request);
    const details = { ...detailsOf(refused), ...known('client', client) };
    await store.refuse([{ received_at, reason, status, message, ...details }]);
  };

  return {
    refused: (refused: Refused): void => {
      const { reason, message } = refused.refusal;
      setup.failed(OF_SENDER.includes(reason) ? 'accepted' : 'stored', refusedText(message));
      counts.count(reason, projectOf(refused));
      const isKept = ofClient(refused.client, 0) === 0 && ofAll(undefined, 0) === 0;
      tell.metric('refused', 1, { reason, kept: String(isKept) });
      if (!isKept) return;
      ofClient(refused.client, 1);
      ofAll(undefined, 1);
      const writing: Promise<void> = keep(refused)
        .catch(() => {}) // the database does not work, which the store sink reports
        .finally(() => underWay.delete(writing));
      underWay.add(writing);
    },
    /** Settles when no refusal is being stored. */
    settled: async (): Promise<void> => void (await Promise.all(underWay)),
  };
};
