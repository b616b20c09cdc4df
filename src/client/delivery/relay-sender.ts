import type { OutboxRecord } from '../types.js';
import { BATCH_PATH, BATCH_RECORDS } from '../../interface/wire.js';
import { createCarrier, KEEPALIVE_BUDGET } from './carrier.js';
import { readResults } from './relay-answer.js';
import type { Capacity, Sender, SenderEffects } from './sender.js';

/** The body is JSON already, and an id (a nanoid) has nothing to escape. */
const itemOf = ({ id, type, body }: OutboxRecord): string =>
  `{"id":"${id}","type":"${type}","body":${body}}`;

const batchOf = (sentAt: number, records: readonly OutboxRecord[]): string =>
  `{"sent_at":"${new Date(sentAt).toISOString()}","records":[${records.map(itemOf).join()}]}`;

const CAPACITY: Capacity = {
  records: BATCH_RECORDS,
  bytes: KEEPALIVE_BUDGET,
  bytesPerRecord: 107, // an id of 21 characters, and what stands around a body
};

const problemOf = (status: number, url: string): string =>
  status === 401 || status === 403
    ? `the relay refuses this page (${status}): check its option \`${status === 401 ? 'authorize' : 'origins'}\``
    : `no relay at ${url} (${status}): check the option \`relay\``;

/** Sends many records in each request, to a relay that passes them on (src/interface/wire.ts). */
export const createRelaySender = (effects: SenderEffects): Sender => {
  const { settings, now, isGoing, beacon } = effects;
  const { post, give, ...carrier } = createCarrier(effects);

  return {
    ...carrier,
    capacity: CAPACITY,
    send: async (records, { size, keepalive }) => {
      const url = settings().relay + BATCH_PATH;
      const body = batchOf(now(), records);
      if (keepalive && isGoing() && beacon(url, body)) {
        give(size);
        return undefined;
      }
      const answer = await post({
        url,
        // The same type as a beacon's. It needs no preflight if the relay is on another origin.
        headers: { 'content-type': 'text/plain;charset=UTF-8' },
        body,
        // The relay may know visitors by the site's own cookies. A beacon carries them anyway.
        credentials: 'same-origin',
        size,
        keepalive,
      });
      if (!answer) return undefined;
      const results = readResults(answer, records);
      if (results) return results;
      const { status, brokeOff, body: said } = answer;
      // A 2xx without results comes from something else than a relay, unless the results broke off. In that case all
      // records are sent again, as if there had been no answer: the relay knows repeats.
      if (status < 300) answer.outcome = brokeOff || !said ? 'retry' : 'blocked';
      return { problem: problemOf(status, url), ...answer };
    },
  };
};
