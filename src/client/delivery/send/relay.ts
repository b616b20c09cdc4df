import { boundedWait } from '../../../interface/backoff.js';
import { BATCH_PATH, type BatchAnswer, type BatchResult } from '../../../interface/wire.js';
import { isGoing, isLoading } from '../../life.js';
import type { Settings } from '../../options.js';
import { mayFail } from '../../../util/may-fail.js';
import { beacon, timeBy } from '../../page.js';
import type { OutboxRecord } from '../../types.js';
import { post } from './post.js';
import type { Answer, Send } from './sender.js';

/** The body is JSON already, and an id (a nanoid) has nothing to escape. */
const itemOf = ({ id, type, body, at }: OutboxRecord): string =>
  `{"id":"${id}","type":"${type}","called_at":${at},"body":${body}}`;

const answerOf = ({
  outcome,
  status = 0,
  retry_after,
  unlisted,
  message = '',
}: Partial<BatchResult> = {}): Answer => {
  return {
    // An accepted record is in the relay's queue. A word that is not known promises nothing.
    outcome:
      outcome === 'accepted'
        ? 'delivered'
        : /^(delivered|blocked|rejected)$/.test(outcome!)
          ? (outcome as Answer['outcome'])
          : 'retry',
    status,
    retryAfterMs: boundedWait(retry_after! * 1_000),
    problem: `the relay: ${unlisted ? `${unlisted} not listed` : `${status} ${message}`}`,
  };
};

/** Sends many records in a request, to a relay that passes them on (src/interface/wire.ts). */
export const createRelaySend =
  (settings: () => Settings): Send =>
  async (records, how) => {
    const url = settings().relay + BATCH_PATH;
    const sentAt = new Date(timeBy(settings().now)).toJSON();
    const body = `{"sent_at":"${sentAt}","records":[${records.map(itemOf)}]}`;
    // The site's own `fetch` may add what its relay asks for. WebKit holds beacons back while a page loads
    // (NetworkLoadScheduler.cpp).
    if (how.keepalive && !settings().fetch && isGoing() && !isLoading() && beacon(url, body))
      return undefined;
    // As plain text, like a beacon: that needs no preflight. The relay may know visitors by the site's own cookies.
    const answer = await post({ url, body, ...how }, settings());
    if (!answer) return undefined;
    const { status, text } = answer;
    const answers = mayFail(() => {
      const { results } = JSON.parse(text) as BatchAnswer;
      return records.map(({ id }) => answerOf(results.find((result) => result?.id === id)));
    });
    if (status === 200 && answers) return answers;
    // A 2xx without results comes from something else than a relay, or has broken off: the relay knows repeats.
    if (status < 300) answer.outcome = text ? 'blocked' : 'retry';
    return records.map(() => answer);
  };
