import type { EventBody } from '../interface/bodies.js';
import type { BatchRecord } from '../interface/wire.js';
import type { Send, SendResult } from '../relay/delivery/upstream.js';
import { calledAtOf } from './called-at.js';
import { checkBody, type BodyRules } from './check-body.js';
import type { LargeProfiles } from './large-profiles.js';
import type { Refusal } from './refusal.js';
import { detailsOf, type Refusals } from './refusals.js';
import type { Setup } from './setup.js';
import type { Incoming, Written } from './store/port.js';
import type { WriteRecords } from './write-records.js';

interface Parts {
  rules: BodyRules;
  refusals: Refusals;
  setup: Pick<Setup, 'note'>;
  writeRecords: WriteRecords;
  largeProfiles: LargeProfiles;
  clientWordOf: (request: Request) => Promise<string | undefined>;
  now: () => number;
}

const DELIVERED: SendResult = { outcome: 'delivered', status: 200 };
/** No trouble of the service: the relay lets this client's records wait, and goes on with others. */
const WAITS: SendResult = { outcome: 'retry', status: 503 };

/**
 * Returns the function that takes what a relay of the same process hands over: the same checks as for the two
 * operations, and one transaction for all.
 */
export const createWriteForRelay = (parts: Parts): Send => {
  const { rules, refusals, setup, writeRecords, largeProfiles, clientWordOf, now } = parts;

  return async (records, { request, client: key }) => {
    setup.note('preflight');
    const receivedAt = new Date(now()).toISOString();
    const client = request && (await clientWordOf(request));

    const check = ({ id, type, body, called_at: called }: BatchRecord): Incoming | Refusal => {
      const checked = checkBody(type, body, receivedAt, rules);
      if ('reason' in checked) return checked;
      const told = called === undefined ? undefined : new Date(called).toISOString();
      const time = type === 'event' ? (checked.body as EventBody).timestamp : told;
      const calledAt = calledAtOf(type, time, receivedAt);
      return { id, type, body: checked.body, receivedAt, calledAt, client };
    };
    const tell = (refusal: Refusal, { id, type, body }: BatchRecord): void => {
      const known = { id, type, ...(client !== undefined && { client }) };
      refusals.tell(refusal, { ...known, ...detailsOf(body), body: JSON.stringify(body) }, client);
    };

    const mustWait = largeProfiles.waitMs(key) > 0;
    const checked = records.map((record) =>
      mustWait && record.type === 'identify' ? WAITS : check(record),
    );
    const good = checked.filter((one): one is Incoming => 'receivedAt' in one);
    if (good.length) setup.note('accepted');
    const written = good.length ? await writeRecords.write(good) : [];
    largeProfiles.charge(key, written);
    let next = 0;
    return checked.map((one, index): SendResult => {
      if ('outcome' in one) return one;
      if ('receivedAt' in one) return resultOf(written[next++]!);
      tell(one, records[index]!);
      return { outcome: 'rejected', status: one.status, message: one.message };
    });
  };
};

/** A dead record is kept among the refused: to send it again would change nothing. */
const resultOf = ({ outcome }: Written): SendResult =>
  outcome === 'dead' ? { outcome: 'rejected', status: 422 } : DELIVERED;
