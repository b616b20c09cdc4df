import { calledAtOf } from './called-at.js';
import { checkBody, type BodyRules } from './check-body.js';
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
}

/**
 * Returns the function that writes what a relay of the same process hands over: the same checks as for the two
 * operations, and one transaction for all. One that is refused is `dead`, with the reason in words.
 */
export const createWriteForRelay =
  ({ rules, refusals, setup, writeRecords }: Parts) =>
  async (records: readonly Incoming[]): Promise<Written[]> => {
    setup.note('preflight');
    const refused = new Map<Incoming, Refusal>();
    const good = records.flatMap((record): Incoming[] => {
      const { type, receivedAt, calledAt } = record;
      const checked = checkBody(type, record.body, receivedAt, rules);
      if ('body' in checked) {
        const told = calledAtOf(type, calledAt, receivedAt);
        return [{ ...record, body: checked.body, calledAt: told }];
      }
      refused.set(record, checked);
      return [];
    });
    for (const [record, refusal] of refused) {
      const { id, type, client, body } = record;
      const known = { id, type, ...(client !== undefined && { client }) };
      refusals.tell(refusal, { ...known, ...detailsOf(body), body: JSON.stringify(body) }, client);
    }
    if (good.length) setup.note('accepted');
    const written = good.length ? await writeRecords.write(good) : [];
    let next = 0;
    return records.map((record): Written => {
      const refusal = refused.get(record);
      return refusal ? { outcome: 'dead', message: refusal.message } : written[next++]!;
    });
  };
