import type { BatchRecord, BatchResult } from '../../interface/wire.js';
import type { DeliverOptions } from '../delivery/delivery.js';
import type { Tell } from '../hooks.js';
import { checkRecord, type ClaimedRecord } from './records.js';
import type { RelayOptions } from './relay-options.js';
import { type TellRefused, createTellUnlisted } from './refusals.js';
import { createOpaqueWord, truncateAddress } from './client.js';

interface Effects {
  lists: Pick<RelayOptions, 'projects' | 'channels'>;
  /** Where allowed records go: into the queue, or to the service. */
  send: (
    records: readonly BatchRecord[],
    options: DeliverOptions & { client: string },
  ) => Promise<BatchResult[]>;
  /** Whether so many records may go on. */
  admit: (records: number) => Response | undefined;
  /** Under what the sender of a request is counted. */
  clientOf: (request: Request) => string;
  now: () => number;
  tell: Tell;
  tellRefused: TellRefused;
}

/** Sends on those records of a request that are allowed. */
export const createPassOn = (options: RelayOptions, effects: Effects) => {
  const { lists, send, admit, clientOf, now, tell, tellRefused } = effects;
  const { deadline = 15_000, forwardAddress, clientAddress, secret } = options;
  const wordOf = createOpaqueWord(secret ?? secretOf(options));
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

  /** Answers one result a record, in their order, or why none may go on now. */
  return async (
    request: Request,
    claimed: readonly ClaimedRecord[],
  ): Promise<BatchResult[] | Response> => {
    const checked = claimed.map((record) => checkRecord(record, lists));
    const good = checked.filter((one) => 'body' in one);
    const refusal = good.length > 0 && admit(good.length);
    if (refusal) return refusal;
    // What goes on and may be stored holds no address.
    const client = await wordOf(clientOf(request));
    const until = now() + deadline;
    const sent = await send(good, { until, client, address: addressOf(request), request });
    let next = 0;
    return checked.map((one, index): BatchResult => {
      const isAllowed = 'body' in one;
      const result = isAllowed ? sent[next++]! : one;
      if (!isAllowed) tellRefused.record(request, claimed[index]!, result);
      tellIfUnlisted(result, claimed[index]!, client);
      tell.metric('records', 1, { side: 'in', outcome: result.outcome });
      return result;
    });
  };
};

/** The token, if it is known, is a secret that all processes of a relay share. */
const secretOf = ({ token }: RelayOptions): string | undefined =>
  typeof token === 'string' ? token : undefined;
