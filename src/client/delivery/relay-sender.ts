import type { OutboxRecord } from '../types.js';
import { BATCH_PATH, BATCH_RECORDS } from '../../interface/wire.js';
import { attemptOf } from './attempt-of.js';
import { createCarrier, KEEPALIVE_BUDGET } from './carrier.js';
import { verdictOf, type Answer, type Verdict } from '../../interface/outcome.js';
import { readResults } from './relay-answer.js';
import type { Attempt, Capacity, Sender, SenderEffects } from './sender.js';

const opening = (sentAt: string): string => `{"sent_at":"${sentAt}","records":[`;
const CLOSING = ']}';
/** The body is JSON already, and ids need no escape (nanoid). */
const itemOf = ({ id, type, body }: OutboxRecord): string =>
  `{"id":"${id}","type":"${type}","body":${body}}`;

const CAPACITY: Capacity = {
  records: BATCH_RECORDS,
  bytes: KEEPALIVE_BUDGET,
  bytesPerRecord:
    itemOf({ id: '_'.repeat(21), type: 'identify', body: '', at: 0, attempts: 0 }).length + 1, // the comma
  bytesPerRequest: opening(new Date(0).toISOString()).length + CLOSING.length,
};

/** The last time that a date can have: a clock that was passed in may say anything. */
const LAST_TIME = 8.64e15;

const GONE: Attempt = { outcome: 'retry', status: 0, retryAfterMs: 0, wasLeft: true };

const problemOf = ({ outcome, status }: Verdict): string => {
  if (outcome === 'rejected') return `the relay answered ${status}`;
  return status === 401 || status === 403
    ? `the relay refuses this page (${status}): check its option \`${status === 401 ? 'authorize' : 'origins'}\``
    : `no relay answers there (${status}): check the option \`relay\``;
};

/** Sends many records a request, to a relay that passes them on (src/interface/wire.ts). */
export const createRelaySender = (effects: SenderEffects): Sender => {
  const { settings, now, isGoing, beacon } = effects;
  const { room, post, give, abort, comeBack } = createCarrier(effects);

  const attemptForAll = (answer: Answer): Attempt => {
    const verdict = verdictOf(answer);
    // A 2xx without results is the answer of something else, or the results did not come. Then all of it
    // is sent again: the relay knows repeats.
    const isOther = verdict.status >= 200 && verdict.status < 300;
    const isCutOff = 'body' in answer && (answer.brokeOff || !answer.body);
    if (isOther) verdict.outcome = isCutOff ? 'retry' : 'blocked';
    return attemptOf(answer, verdict, { now: now(), problemOf });
  };

  return {
    capacity: CAPACITY,
    room,
    send: async (records, { size, keepalive, handoff }) => {
      const url = settings().relay + BATCH_PATH;
      const sentAt = new Date(Math.max(-LAST_TIME, Math.min(now(), LAST_TIME))).toISOString();
      const body = opening(sentAt) + records.map(itemOf).join() + CLOSING;
      if (handoff && keepalive && isGoing() && beacon(url, body)) {
        give(size);
        return GONE;
      }
      const answer = await post({
        url,
        // As a beacon has it: to a relay on another origin it needs no preflight.
        headers: { 'content-type': 'text/plain;charset=UTF-8' },
        body,
        // The relay may know its visitors by the site's own cookies, which a beacon carries anyway.
        credentials: 'same-origin',
        size,
        keepalive,
      });
      return ('body' in answer && readResults(answer, records)) || attemptForAll(answer);
    },
    abort,
    comeBack,
  };
};
