import type { RecordType } from '../interface/bodies.js';
import type { BatchResult } from '../interface/wire.js';
import type { Door, Operation, Pass } from './doors.js';
import type { Tell } from './hooks.js';
import { answerJson } from './http/answers.js';
import type { Account, Admission } from './http/admission.js';
import { readBody } from './http/body.js';
import type { createHeldBodies, HeldBody } from './http/held-bodies.js';
import { weighBody, weighBytes } from './http/weigh.js';
import type { Ignored } from './ignoring.js';
import type { Incoming } from './incoming.js';
import {
  checkRecord,
  ID_WORDS,
  isId,
  isType,
  parseBatch,
  parseJson,
  type ClaimedRecord,
  type Rules,
} from './records.js';
import { answerRefusal, isRefusal, refusalOf, type Refusal } from './refusal.js';
import type { Sink } from './sink.js';

/** A request or record that is refused. */
export interface Refused {
  refusal: Refusal;
  request: Request;
  /** The key of its client; '' if clients cannot be told apart. */
  client: string;
  type?: RecordType | undefined;
  id?: string | undefined;
  /** The body, if it was parsed. */
  body?: unknown;
}

/** A request that is let in, and what is known of it. */
interface Arrival extends Pass {
  request: Request;
  /** The key of its client; '' if clients cannot be told apart. */
  client: string;
  account: Account;
  ignored: Ignored | undefined;
}

export interface ReceiveParts {
  sink: Sink;
  rules: Rules;
  admission: Admission;
  hold: ReturnType<typeof createHeldBodies>;
  /**
   * Make the words that stand for a sender and for a browser in records. A sender has one if its records are passed on:
   * what is passed on or stored holds no address.
   */
  senderOf?: ((client: string) => Promise<string>) | undefined;
  browserOf?: ((request: Request) => Promise<string | undefined>) | undefined;
  /** The truncated address of a client, if it is to be passed on. */
  addressOf?: ((request: Request) => string | undefined) | undefined;
  /** Why the records of a request go nowhere, if that is so. */
  ignoring: (request: Request) => Ignored | undefined;
  /** Called with each request and record that is refused, unless the request is ignored. */
  refused: (refused: Refused) => void;
  /** Called with why a request is ignored. */
  ignored?: ((ignored: Ignored) => void) | undefined;
  /** Called when a sender has been let in. */
  accepted?: (() => void) | undefined;
  tell: Tell;
  now: () => number;
  /** Milliseconds within which a sink has to answer. */
  deadline: number;
}

const outcomeOf = ({ status }: Refusal): 'blocked' | 'rejected' =>
  status === 403 ? 'blocked' : 'rejected';

/** The result of a refused record in the answer to a batch. */
const resultOf = (id: string, refusal: Refusal): BatchResult => {
  const { status, message, field, unlisted } = refusal;
  return {
    ...{ id, outcome: outcomeOf(refusal), status, message: message.slice(0, 200) },
    ...(field && { field }),
    ...(unlisted && { unlisted }),
  };
};

/** The refusal that a result of a sink stands for, if it is one. */
const refusalIn = (result: BatchResult): Refusal | undefined => {
  const { outcome, status, retry_after: waitS = 1, message = '' } = result;
  const waitMs = waitS * 1_000;
  if (outcome === 'retry' && status === 429) return refusalOf('rate', message, { waitMs });
  if (outcome === 'retry') return refusalOf('database', '', { status: 503, waitMs });
  if (outcome === 'rejected' && status === 422) return refusalOf('database', message);
  if (outcome === 'rejected') return refusalOf(status === 413 ? 'size' : 'field', message);
  // The service refuses this server, not the client. If the client got a 401, it would ask for another token.
  return outcome === 'blocked' ? refusalOf('database', '', { status: 502 }) : undefined;
};

/** A sender whose records are ignored is told that they were accepted, so that it sends none of them again. */
const accepted = ({ id }: ClaimedRecord): BatchResult => ({ id, outcome: 'accepted', status: 0 });

const NOUN = { identify: 'Profile', event: 'Event' };

/**
 * All requests with records take this way: the door, the client's account, the body, the check of each record, the
 * sink. Each refusal on the way is answered, and reported once.
 */
export const createReceive = (parts: ReceiveParts) => {
  const { sink, rules, admission, hold, refused, tell, now, deadline } = parts;

  /** Reads the body as text, and charges its client for it before it is parsed. */
  const read = async (
    request: Request,
    charge: Account['charge'],
    held: HeldBody,
  ): Promise<string | Refusal> => {
    const body = await readBody(request, held);
    if (typeof body !== 'string') {
      await charge(weighBytes(held.size()));
      return body;
    }
    const { tokens, isTooMuch } = weighBody(body);
    const overdrawn = await charge(tokens);
    return overdrawn ?? (isTooMuch ? refusalOf('size', 'The body has too many values.') : body);
  };

  /** Counts the records, and keeps nothing of them. */
  const ignore = (claimed: readonly ClaimedRecord[], why: Ignored): BatchResult[] => {
    tell.metric('records', claimed.length, { side: 'in', outcome: why });
    parts.ignored?.(why);
    return claimed.map(accepted);
  };

  /** Checks records and gives the good ones to the sink. Returns a result for each, or a refusal of all. */
  const take = async (
    claimed: readonly ClaimedRecord[],
    { request, client, account, mayWrite, fromServer, ignored }: Arrival,
  ): Promise<(BatchResult | Refusal)[] | Refusal> => {
    if (ignored) return ignore(claimed, ignored);
    const time = now();
    const receivedAt = new Date(time).toISOString();
    const checked = claimed.map((record) => checkRecord(record, rules, { receivedAt, mayWrite }));
    const good = checked.filter((one): one is Incoming => !isRefusal(one));
    const beyond = good.length > 0 && account.admit(good.length);
    if (beyond) return beyond;
    let taken: readonly BatchResult[] = [];
    if (good.length) {
      // If the secret of the day cannot be read, the write most likely fails as well.
      const sender = await parts.senderOf?.(client).catch(() => '');
      const browser = await parts.browserOf?.(request);
      for (const record of good) {
        if (sender) record.sender = sender;
        if (browser !== undefined) record.client = browser;
        if (fromServer) record.fromServer = true;
      }
      const until = time + deadline;
      const answer = await sink.take(good, { until, address: parts.addressOf?.(request) });
      if ('waitMs' in answer)
        return refusalOf('database', '', { status: 503, waitMs: answer.waitMs });
      taken = answer;
    }
    let next = 0;
    return checked.map((one, index) => {
      if (isRefusal(one)) {
        const { id, type, body } = claimed[index]!;
        const known = isType(type) ? type : undefined;
        refused({ refusal: one, request, client, id, body, type: known });
      }
      const result = isRefusal(one) ? one : taken[next++]!;
      const outcome = isRefusal(result) ? outcomeOf(result) : result.outcome;
      tell.metric('records', 1, { side: 'in', outcome });
      return result;
    });
  };

  const answerBatch = async (text: string, arrival: Arrival): Promise<Response | Refusal> => {
    const claimed = parseBatch(text);
    if (isRefusal(claimed)) return { ...claimed, sent: text };
    const taken = await take(claimed, arrival);
    if (isRefusal(taken)) return taken;
    const results = taken.map((one, index) =>
      isRefusal(one) ? resultOf(claimed[index]!.id, one) : one,
    );
    return answerJson(200, { results });
  };

  /** The record of a request to one of the interface's operations. */
  const singleOf = (
    { headers }: Request,
    type: RecordType,
    text: string,
  ): ClaimedRecord | Refusal => {
    // A request without a key gets a new id, so a repeat of it is another record.
    const id = headers.get('idempotency-key') || crypto.randomUUID();
    const body = parseJson(text);
    if (body === undefined) return refusalOf('body', 'The body is no JSON.');
    if (!isId(id)) return refusalOf('field', `\`Idempotency-Key\` must have ${ID_WORDS}`);
    return { id, type, body, called_at: headers.get('x-called-at') ?? undefined };
  };

  const answerSingle = async (
    type: RecordType,
    text: string,
    arrival: Arrival,
  ): Promise<Response | Refusal> => {
    const claimed = singleOf(arrival.request, type, text);
    if (isRefusal(claimed)) return { ...claimed, sent: text };
    const taken = await take([claimed], arrival);
    if (isRefusal(taken)) return taken;
    const [one] = taken;
    const refusal = isRefusal(one!) ? one : refusalIn(one!);
    if (refusal) return answerRefusal(refusal);
    const done = arrival.ignored ? 'accepted' : sink.done;
    return answerJson(200, { success: true, message: `${NOUN[type]} ${done}` });
  };

  const answer = async (
    request: Request,
    operation: Operation,
    door: Door,
    client: string,
    ignored: Ignored | undefined,
  ): Promise<Response | Refusal> => {
    const pass = await door.enter(request);
    const account = admission.accountOf(client, isRefusal(pass) ? undefined : pass.own);
    const { charge, admit, network } = account;
    const beyond = (await charge(0)) ?? admit(0);
    if (beyond) return beyond;
    if (isRefusal(pass)) {
      await charge(1);
      return pass;
    }
    const unauthorized = await door.authorize?.(request);
    if (unauthorized) return unauthorized;
    parts.accepted?.();
    const waitMs = ignored ? 0 : sink.waitMs();
    if (waitMs > 0) return refusalOf('database', '', { status: 503, waitMs });
    const held = hold(client, network);
    try {
      const text = await read(request, charge, held);
      if (typeof text !== 'string') return text;
      const arrival = { ...pass, request, client, account, ignored };
      return await (operation === 'batch'
        ? answerBatch(text, arrival)
        : answerSingle(operation, text, arrival));
    } finally {
      held.release();
    }
  };

  return async (request: Request, operation: Operation, door: Door): Promise<Response> => {
    const known = admission.clientOf(request);
    const [client, noClient] = typeof known === 'string' ? [known] : ['', known];
    const ignored = noClient ? undefined : parts.ignoring(request);
    const answered = noClient ?? (await answer(request, operation, door, client, ignored));
    if (answered instanceof Response) return answered;
    // A sink that is away reports that itself, and the sender sends the records again.
    const isOwn = answered.reason !== 'database' && !ignored;
    const type = operation === 'batch' ? undefined : operation;
    if (isOwn) refused({ refusal: answered, request, client, type });
    return answerRefusal(answered);
  };
};
