import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import type { DeliverOptions } from '../delivery/delivery.js';
import type { Tell } from '../hooks.js';
import { checkRecord } from './check-record.js';
import { createClientOf } from './client-of.js';
import type { ClaimedRecord } from './parse-batch.js';
import type { RelayOptions } from './relay-options.js';
import type { TellRefused } from './refusals.js';
import { createTellUnlisted } from './tell-unlisted.js';
import { truncateAddress } from './truncate-address.js';

interface Effects {
  lists: Pick<RelayOptions, 'projects' | 'channels'>;
  /** Where allowed records go: into the queue, or to the service. */
  send: (
    records: readonly BatchRecord[],
    options: DeliverOptions & { client: string },
  ) => Promise<BatchResult[]>;
  now: () => number;
  tell: Tell;
  tellRefused: TellRefused;
}

/** Sends on those records of a request that are allowed. */
export const createPassOn = (options: RelayOptions, effects: Effects) => {
  const { lists, send, now, tell, tellRefused } = effects;
  const { deadline = 15_000, forwardAddress, clientAddress } = options;
  const clientOf = createClientOf(options, tell);
  const tellUnlisted = createTellUnlisted({ now, tell });

  const addressOf = (request: Request): string | undefined =>
    forwardAddress ? truncateAddress(clientAddress?.(request) ?? '') : undefined;

  /** Tells the operator of a value that the lists lack. */
  const tellIfUnlisted = (
    { unlisted }: BatchResult,
    { body }: ClaimedRecord,
    client: string,
  ): void => {
    if (!unlisted) return;
    const value = (body as Record<string, string>)[unlisted]!;
    tellUnlisted({ field: unlisted, value, client });
  };

  /** Answers one result a record, in their order. */
  return async (request: Request, claimed: readonly ClaimedRecord[]): Promise<BatchResult[]> => {
    const checked = claimed.map((record) => checkRecord(record, lists));
    const good = checked.filter((one) => 'body' in one);
    const client = clientOf(request);
    const until = now() + deadline;
    const sent = await send(good, { until, client, address: addressOf(request), request });
    let next = 0;
    return checked.map((one, index): BatchResult => {
      const isAllowed = 'body' in one;
      const result = isAllowed ? sent[next++]! : one;
      if (!isAllowed) tellRefused.record(request, claimed[index]!, result);
      tellIfUnlisted(result, claimed[index]!, client);
      tell.metric('records', 1, { outcome: result.outcome });
      return result;
    });
  };
};
