import { createRateLimit } from '../relay/front/admission.js';
import type { Tell } from './hooks.js';
import type { Refusal } from './refusal.js';
import type { Setup } from './setup.js';
import type { NewRefused, Store } from './store/port.js';
import { refusedText } from './store/refused-bounds.js';

/** How many of what was refused are kept: of one client, and of all. The rest is only counted. */
const OF_CLIENT = { perSecond: 5, burst: 50 };
const OF_ALL = { perSecond: 20, burst: 200 };

interface Parts {
  store: Pick<Store, 'refuse'>;
  setup: Pick<Setup, 'failed'>;
  tell: Tell;
  now: () => number;
}

/** What is known of a request or record that is refused. */
export type Details = Pick<NewRefused, 'id' | 'type' | 'project' | 'user_id' | 'body' | 'client'>;

/** A field that has to be a text. A number was meant as one: whoever looks for it, or erases it, asks for its text. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

/** Of a parsed body what is good for finding it again. */
export const detailsOf = (body: unknown): Details => {
  const { project, user_id } = (body ?? {}) as Record<string, unknown>;
  const [named, user] = [textOf(project), textOf(user_id)];
  return {
    ...(named !== undefined && { project: named.slice(0, 1_024) }),
    ...(user !== undefined && { user_id: user.slice(0, 1_024) }),
  };
};

/** Keeps what was refused, so that people see it. A flood of it costs little, and no answer waits for it. */
export const createRefusals = ({ store, setup, tell, now }: Parts) => {
  const ofClient = createRateLimit(OF_CLIENT, now);
  const ofAll = createRateLimit(OF_ALL, now);
  const underWay = new Set<Promise<void>>();

  return {
    tell: ({ reason, status, message }: Refusal, details: Details, clientKey = ''): void => {
      setup.failed(refusedText(message));
      const isKept = ofClient(clientKey, 1) === 0 && ofAll(undefined, 1) === 0;
      tell.metric('refused', 1, { reason, kept: String(isKept) });
      if (!isKept) return;
      const received_at = new Date(now()).toISOString();
      const writing: Promise<void> = store
        .refuse([{ received_at, reason, status, message, ...details }])
        .catch(() => {}) // the database does not work, which the records tell of
        .finally(() => underWay.delete(writing));
      underWay.add(writing);
    },
    /** Settles when all of them are kept. */
    settled: async (): Promise<void> => void (await Promise.all(underWay)),
  };
};

export type Refusals = ReturnType<typeof createRefusals>;
