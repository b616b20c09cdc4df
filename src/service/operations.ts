import type { EventBody, RecordType } from '../interface/bodies.js';
import { isDateTime } from '../interface/is-date-time.js';
import type { createAdmission } from '../relay/front/admission.js';
import { answerJson } from '../relay/front/http.js';
import type { createHeldBodies } from '../relay/front/admission.js';
import { parseJson } from '../relay/front/records.js';
import { readBody } from '../relay/front/read-body.js';
import { weighBody, weighBytes } from '../relay/front/records.js';
import { calledAtOf } from './called-at.js';
import { checkBody, type BodyRules } from './check-body.js';
import type { LargeProfiles } from './large-profiles.js';
import { answerRefusal, refusalOf, type Refusal } from './refusal.js';
import { detailsOf, type Details, type Refusals } from './refusals.js';
import type { Setup } from './setup.js';
import type { Incoming } from './store/port.js';
import { bearerOf, type Grant, type Tokens } from './tokens.js';
import type { WriteRecords } from './write-records.js';

export const MAX_BODY_BYTES = 1_048_576;
const BODY_TIMEOUT_MS = 10_000;
const MAX_ID = 255;
/** How long to wait when too many bodies are held, and when the database does not work. */
const [BUSY_MS, DOWN_MS] = [1_000, 5_000];

/** The same for the first request and for a repeat, so that a repeat gets the first answer. */
const MESSAGES: Readonly<Record<RecordType, string>> = {
  identify: 'Profile stored',
  event: 'Event stored',
};
const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

const NO_TOKEN =
  'The request has no token. Send `Authorization: Bearer <token>` with a write token of the service (`data-token` in the tag).';
const WRONG_TOKEN =
  'The token is none of the write tokens of the service. Compare it with those that the service was started with.';
const NO_JSON = 'The body is no JSON.';
const LARGE_PROFILES =
  'Too many identifies of this client to large profiles. Send fewer properties of a user, or less often.';
const WRONG_TYPE = 'The content type must be application/json, in UTF-8.';

interface Parts {
  admission: ReturnType<typeof createAdmission>;
  hold: ReturnType<typeof createHeldBodies>;
  /** Under what a client is counted. */
  clientKeyOf: (request: Request) => string;
  clientWordOf: (request: Request) => Promise<string | undefined>;
  tokens: Tokens;
  rules: BodyRules;
  refusals: Refusals;
  setup: Setup;
  writeRecords: WriteRecords;
  largeProfiles: LargeProfiles;
  now: () => number;
}

/** A body that could not be read, by the status that `readBody` gives. */
const unreadable = (status: number): Refusal => {
  switch (status) {
    case 413:
      return refusalOf('size', `The body may have ${MAX_BODY_BYTES} bytes at the most.`);
    case 408:
      return refusalOf('body', 'The body did not come in time.', 408);
    case 415:
      return refusalOf('body', 'The content encoding must be gzip, or none.', 415);
    case 429:
      return refusalOf('rate', 'Too many bodies of this client at once.', 429, BUSY_MS);
    case 503:
      return refusalOf('rate', 'Too many bodies at once.', 503, BUSY_MS);
    default:
      return refusalOf('body', 'The body is empty, incomplete, or not UTF-8.');
  }
};

const tooMany = (response: Response): Refusal => {
  const waitS = Number(response.headers.get('retry-after') ?? 1);
  const status = response.status === 429 ? 429 : 503;
  const words =
    status === 429
      ? 'Too many records of this client. Raise the rate limit, if it is one of yours.'
      : 'Too many records of all clients. Raise the ceiling, if they are yours.';
  return refusalOf('rate', words, status, waitS * 1_000);
};

/** A refusal together with what is known of the request by then. */
type Refused = [refusal: Refusal, details?: Details];

/** The two operations of the interface. */
export const createOperations = (parts: Parts) => {
  const { admission, hold, clientKeyOf, clientWordOf, tokens, rules } = parts;
  const { refusals, setup, writeRecords, largeProfiles, now } = parts;

  const authorize = async (request: Request): Promise<Grant | undefined> => {
    const token = bearerOf(request);
    return token === undefined ? undefined : tokens(token);
  };

  /** The text of the body, or why there is none. What has come of it is charged to the client. */
  const read = async (
    request: Request,
    held: ReturnType<Parts['hold']>,
  ): Promise<string | Refusal> => {
    const limits = { maxBytes: MAX_BODY_BYTES, timeout: BODY_TIMEOUT_MS, hold: held.add };
    const body = await readBody(request, limits);
    const { tokens: cost, isTooMuch } =
      typeof body === 'number'
        ? { tokens: weighBytes(held.size()), isTooMuch: false }
        : weighBody(body);
    if (typeof body === 'number') {
      await admission.charge(request, cost);
      return unreadable(body);
    }
    const overdrawn = await admission.limit(request, cost);
    if (overdrawn) return tooMany(overdrawn);
    return isTooMuch ? refusalOf('size', 'The body has too many values.') : body;
  };

  /** The record of a request, checked, or why it is refused. */
  const recordOf = (
    { headers }: Request,
    type: RecordType,
    text: string,
    grant: Grant,
  ): Omit<Incoming, 'client'> | Refused => {
    const parsed = parseJson(text);
    if (parsed === undefined) return [refusalOf('body', NO_JSON)];
    const key = headers.get('idempotency-key') || undefined;
    const details = { ...detailsOf(parsed), ...(key && { id: key.slice(0, MAX_ID) }) };
    const receivedAt = new Date(now()).toISOString();
    const checked = checkBody(type, parsed, receivedAt, rules);
    if ('reason' in checked) return [checked, details];
    const { body } = checked;
    if (!grant.mayWrite(body.project)) {
      const fix = 'Use a token of this project, or add the project to the token.';
      const words = `The token may not write to the project "${body.project}". ${fix}`;
      return [refusalOf('project', words), details];
    }
    if (key && key.length > MAX_ID) {
      const words = `\`Idempotency-Key\` may have ${MAX_ID} characters at the most`;
      return [refusalOf('field', words), details];
    }
    const told = headers.get('x-called-at');
    if (told !== null && !isDateTime(told)) {
      return [refusalOf('field', '`X-Called-At` must be a date-time of RFC 3339'), details];
    }
    const time = type === 'event' ? (body as EventBody).timestamp : told;
    const calledAt = calledAtOf(type, time, receivedAt);
    // A client that gives no key does not mean to send the request again.
    return { id: key ?? crypto.randomUUID(), type, body, receivedAt, calledAt };
  };

  const receive = async (
    request: Request,
    type: RecordType,
    text: string,
    grant: Grant,
  ): Promise<Response | Refused> => {
    const record = recordOf(request, type, text, grant);
    if (Array.isArray(record)) return [record[0], { body: text, ...record[1] }];
    const beyond = admission.admit(1);
    if (beyond) return [tooMany(beyond), detailsOf(record.body)];
    const key = clientKeyOf(request);
    const waitMs = type === 'identify' ? largeProfiles.waitMs(key) : 0;
    if (waitMs) return [refusalOf('rate', LARGE_PROFILES, 429, waitMs), detailsOf(record.body)];
    setup.note('accepted');
    const client = await clientWordOf(request);
    const written = await writeRecords.write([{ ...record, client }]).catch(() => undefined);
    largeProfiles.charge(key, written ?? []);
    if (!written) return answerRefusal(refusalOf('database', '', 503, DOWN_MS));
    // The store has kept it among the refused.
    if (written[0]!.outcome === 'dead') return answerRefusal(refusalOf('database', ''));
    return answerJson(200, { success: true, message: MESSAGES[type] });
  };

  const answer = async (request: Request, type: RecordType): Promise<Response | Refused> => {
    const overdrawn = await admission.limit(request, 0);
    if (overdrawn) return [tooMany(overdrawn)];
    const grant = await authorize(request);
    if (!grant) {
      await admission.charge(request, 1);
      const words = request.headers.has('authorization') ? WRONG_TOKEN : NO_TOKEN;
      return [refusalOf('token', words)];
    }
    if (!JSON_TYPE.test(request.headers.get('content-type') ?? '')) {
      await admission.charge(request, 1);
      return [refusalOf('body', WRONG_TYPE)];
    }
    const held = hold(clientKeyOf(request));
    try {
      const text = await read(request, held);
      return typeof text === 'string' ? await receive(request, type, text, grant) : [text];
    } finally {
      held.release();
    }
  };

  return async (request: Request, type: RecordType): Promise<Response> => {
    const answered = await answer(request, type);
    if (answered instanceof Response) return answered;
    const [refusal, details] = answered;
    const client = await clientWordOf(request);
    refusals.tell(
      refusal,
      { type, ...details, ...(client !== undefined && { client }) },
      clientKeyOf(request),
    );
    return answerRefusal(refusal);
  };
};
