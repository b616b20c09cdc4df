import { attempt } from '../interface/attempt.js';
import type { Tell } from './hooks.js';
import { createRateLimit } from './http/admission.js';
import type { Refused } from './receive.js';
import type { Setup } from './setup.js';
import type { NewRefused, Store } from './store/port.js';
import { refusedText } from './store/refused-bounds.js';

/** How many of what was refused are kept: of one client, and of all. The rest is only counted. */
const OF_CLIENT = { perSecond: 5, burst: 50 };
const OF_ALL = { perSecond: 20, burst: 200 };
/** What says that the sender may not send at all, and not that something is wrong with a record. */
const OF_SENDER: readonly NewRefused['reason'][] = ['token', 'origin'];
/** Characters of what may be found again by. */
const MAX_NAME = 1_024;

interface Parts {
  store: Pick<Store, 'refuse'>;
  setup: Pick<Setup, 'failed'>;
  /** What stands for a browser in what is kept. */
  browserOf: (request: Request) => Promise<string | undefined>;
  tell: Tell;
  now: () => number;
}

/** Leaves out what is not there. */
const known = (name: string, value: unknown): Record<string, string> =>
  typeof value === 'string' ? { [name]: value } : {};

/** What is known of something that was refused. A body that is too deep to be written out is left out. */
const detailsOf = ({ refusal, id, type, body }: Refused): Partial<NewRefused> => {
  const { project, user_id: user } = (body ?? {}) as Record<string, unknown>;
  // A number was meant as a text: whoever looks for it, or erases it, asks for its text.
  const name = (given: unknown) =>
    typeof given === 'string' || typeof given === 'number'
      ? String(given).slice(0, MAX_NAME)
      : undefined;
  return {
    ...known('id', id),
    ...known('type', type),
    ...known('project', name(project)),
    ...known('user_id', name(user)),
    ...known('body', refusal.sent ?? attempt(() => JSON.stringify(body))),
  };
};

/** Keeps what was refused, so that people see it. A flood of it costs little, and no answer waits for it. */
export const createRefusals = ({ store, setup, browserOf, tell, now }: Parts) => {
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
      const isKept = ofClient(refused.client, 1) === 0 && ofAll(undefined, 1) === 0;
      tell.metric('refused', 1, { reason, kept: String(isKept) });
      if (!isKept) return;
      const writing: Promise<void> = keep(refused)
        .catch(() => {}) // the database does not work, which the records tell of
        .finally(() => underWay.delete(writing));
      underWay.add(writing);
    },
    /** Settles when all of them are kept. */
    settled: async (): Promise<void> => void (await Promise.all(underWay)),
  };
};
