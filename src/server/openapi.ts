import { MAX_RESENT } from './reading/query.js';

/** The service in the words of OpenAPI 3.1. A test calls every path, parameter and status that it names. */

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: 'string' };
const count = { type: 'integer' };
const time = { type: 'string', format: 'date-time' };
const free = { type: 'object', additionalProperties: true };
const listOf = (items: object) => ({ type: 'array', items });
const object = (required: object, optional: object = {}) => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
});

const json = (description: string, schema: object) => ({
  description,
  content: { 'application/json': { schema } },
});
const retryAfter = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
};
const failure = (description: string) => json(description, ref('Error'));
const failureToWait = (description: string) => ({ ...failure(description), headers: retryAfter });

const query = (name: string, schema: object, description: string, required = false) => ({
  ...{ name, in: 'query', description, schema },
  ...(required && { required }),
});
const header = (name: string, schema: object, description: string) => ({
  ...{ name, in: 'header', description, schema },
});

const AFTER = query('after', count, 'Only what is behind this place.');
const BEFORE = query('before', count, 'Only what is before this place.');
const LIMIT = query('limit', count, 'How many at the most, up to 1,000.');
const NEWEST = query('newest', { enum: ['1'] }, '`1`: the newest first.');

/** What any of the operations may answer. */
const REFUSED = {
  400: failure('Invalid request data; `detail` says what is wrong.'),
  401: failure('No token, or a wrong one.'),
  408: failure('The body did not come in time.'),
  413: failure(
    'More than 1 MiB, too many records or values, or a record of over 131,072 characters.',
  ),
  415: failure('A content type other than application/json, or an encoding other than gzip.'),
  429: failureToWait('Too many records of this client.'),
  503: failureToWait('The database does not work, or too much comes.'),
};

const operation = (operationId: string, summary: string, body: string) => ({
  post: {
    ...{ operationId, summary, security: [{ writeToken: [] }] },
    parameters: [
      header(
        'Idempotency-Key',
        { ...text, maxLength: 255 },
        'The id of the record: a repeat is stored once, and gets the first answer.',
      ),
      header(
        'X-Called-At',
        time,
        'The time of the call, where the body has none. Without it the time of the arrival counts.',
      ),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: ref(body) } } },
    responses: {
      200: json('Stored, or known already. With a queue: kept, and stored soon.', ref('Success')),
      403: failure('The token may not write to the project, or the lists lack it or the channel.'),
      422: failure('The database refuses this record. It is kept among the refused.'),
      ...REFUSED,
    },
  },
});

const batch = {
  post: {
    ...{ operationId: 'batch', summary: 'Takes up to 100 records, and answers a result for each.' },
    security: [{ writeToken: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: ref('Batch') } } },
    responses: {
      200: json(
        'What became of each record, in their order.',
        object({ results: listOf(ref('Result')) }),
      ),
      ...REFUSED,
    },
  },
};

const NOT_ALLOWED = {
  401: failure('No read token, or a wrong one.'),
  403: failure('A page of another site, or a foreign name of a service without a read token.'),
};
const reading = (operationId: string, summary: string, parts: object, answers: object) => ({
  ...{ operationId, summary, security: [{ readToken: [] }, {}] },
  ...parts,
  responses: { ...answers, ...NOT_ALLOWED },
});
const DOWN = { 503: failureToWait('The database does not work.') };

const WRONG_QUERY = { 400: failure('What is wrong with the query or the body.'), ...DOWN };

const paths = {
  '/v1/identify': operation('identify', 'Creates or updates the profile of a user.', 'Identify'),
  '/v1/event': operation('event', 'Creates an event.', 'Event'),
  '/v1/batch': batch,
  '/rows': {
    get: reading(
      'rows',
      'The rows that are stored. As HTML it is the page that shows them.',
      {
        parameters: [
          query('format', { enum: ['json', 'ndjson', 'csv', 'sse'] }, 'Or by the Accept header.'),
          query('bom', { enum: ['1'] }, '`1`: CSV begins with a byte order mark, for Excel.'),
          query('project', text, 'Only of this project.'),
          query('channel', text, 'Only of this channel.'),
          query('user', text, 'Only of this user.'),
          query('type', { enum: ['identify', 'event'] }, 'Only of this type.'),
          query('event', listOf(text), 'Only events of these names.'),
          query('not', listOf(text), 'No events of these names.'),
          query('text', { ...text, maxLength: 200 }, 'Any text of the body, whatever its case.'),
          query('mine', { enum: ['1'] }, '`1`: only of the browser that asks.'),
          ...[AFTER, BEFORE, LIMIT, NEWEST],
          header(
            'Last-Event-ID',
            text,
            'Server-sent events go on behind this one, with nothing left out.',
          ),
        ],
      },
      {
        200: {
          description:
            'JSON: a page of rows. NDJSON and CSV: all rows that match. Server-sent events: `row`, `refused`, `setup`, `ready` and `replaced`; the last 200 rows at once, then what is new.',
          content: {
            'application/json': {
              schema: object({ rows: listOf(ref('Row')), next: count }),
            },
            'application/x-ndjson': { schema: ref('Row') },
            'text/csv': { schema: text },
            'text/event-stream': { schema: text },
            'text/html': { schema: text },
          },
        },
        ...WRONG_QUERY,
      },
    ),
  },
  '/rows/{file}': {
    get: {
      operationId: 'pageFile',
      summary: 'A file of the page that shows the rows. It asks for no token, as it holds no rows.',
      security: [{}],
      parameters: [{ name: 'file', in: 'path', required: true, schema: text }],
      responses: {
        200: { description: 'The file.', content: { 'text/javascript': { schema: text } } },
        403: failure('A page of another site.'),
        404: failure('There is no such file.'),
      },
    },
  },
  '/refused': {
    get: reading(
      'refused',
      'What was refused, with the reason in words.',
      { parameters: [AFTER, BEFORE, LIMIT, NEWEST] },
      {
        200: json('A page of them.', object({ refused: listOf(ref('Refused')), next: count })),
        ...WRONG_QUERY,
      },
    ),
  },
  '/refused/resend': {
    post: reading(
      'resend',
      'Writes records again that the database had refused.',
      {
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: object({ seqs: { ...listOf(count), maxItems: MAX_RESENT } }),
            },
          },
        },
      },
      {
        200: json(
          'What became of each that was there.',
          object({
            results: listOf(
              object(
                { seq: count, outcome: { enum: ['stored', 'known', 'dead'] } },
                { message: text },
              ),
            ),
          }),
        ),
        ...WRONG_QUERY,
      },
    ),
  },
  '/profiles': {
    get: reading(
      'profiles',
      'Profiles, by project and user.',
      {
        parameters: [
          query('project', text, 'Only of this project.'),
          query('user', text, 'Only this user.'),
          query('after', text, 'The `next` of the page before.'),
          query('limit', count, 'How many at the most, up to 100.'),
        ],
      },
      {
        200: json('A page of them.', object({ profiles: listOf(ref('Profile')) }, { next: text })),
        ...WRONG_QUERY,
      },
    ),
  },
  '/counts': {
    get: reading(
      'counts',
      'How much is stored, and how much of the refused is kept.',
      {},
      {
        200: json(
          'The numbers.',
          object({
            counts: listOf(object({ project: text, type: ref('Type'), rows: count })),
            refused: count,
          }),
        ),
        ...DOWN,
      },
    ),
  },
  '/users': {
    delete: reading(
      'erase',
      'Erases a user: all rows, the profile, and what was refused.',
      {
        parameters: [
          query('project', text, 'The project.', true),
          query('user', text, 'The user.', true),
        ],
      },
      { 200: json('How many rows there were.', object({ deleted: count })), ...WRONG_QUERY },
    ),
  },
  '/setup': {
    get: reading(
      'setup',
      'How far setting up has come, since the process started.',
      {},
      {
        200: json(
          'The steps that were seen.',
          object(
            {
              steps: object({}, { file: time, preflight: time, accepted: time, stored: time }),
            },
            {
              tag: text,
              tokenFile: text,
              problem: object({ at: time, message: text, step: text }),
            },
          ),
        ),
      },
    ),
  },
  '/openapi.json': {
    get: {
      ...{ operationId: 'openapi', summary: 'This document.', security: [{}] },
      responses: { 200: json('This document.', free) },
    },
  },
  '/live': {
    get: {
      ...{ operationId: 'live', summary: 'Whether the process answers.', security: [{}] },
      responses: { 200: json('It does.', ref('Health')) },
    },
  },
  '/ready': {
    get: {
      ...{ operationId: 'ready', summary: 'Whether records can be stored.', security: [{}] },
      responses: {
        200: json('They can.', ref('Health')),
        503: json('They cannot, and why.', ref('Health')),
      },
    },
  },
};

const schemas = {
  Identify: object({ project: text, user_id: text, properties: free }),
  Event: object(
    { project: text, channel: text, event: text },
    {
      ...{ description: text, icon: text, notify: { type: 'boolean', default: false } },
      ...{ tags: free, user_id: text, timestamp: time },
    },
  ),
  Type: { enum: ['identify', 'event'] },
  Batch: object({
    sent_at: time,
    records: listOf(
      object(
        { id: { ...text, maxLength: 255 }, type: ref('Type'), body: free },
        { called_at: count },
      ),
    ),
  }),
  Success: object({ success: { const: true }, message: text }),
  Error: object({ code: count, message: text }, { detail: text }),
  Result: object(
    {
      id: text,
      outcome: { enum: ['delivered', 'accepted', 'retry', 'blocked', 'rejected'] },
      status: count,
    },
    { retry_after: count, untried: { const: true }, unlisted: text, field: text, message: text },
  ),
  Health: object({ status: { enum: ['ok', 'failing'] } }),
  Row: object(
    {
      ...{ seq: count, id: text, type: ref('Type'), project: text, body: free },
      ...{ called_at: time, received_at: time, arrivals: count },
    },
    { channel: text, event: text, user_id: text, client: text },
  ),
  Refused: object(
    {
      ...{ seq: count, received_at: time, status: count, message: text },
      reason: { enum: ['token', 'origin', 'body', 'field', 'project', 'size', 'rate', 'database'] },
    },
    {
      ...{ id: text, type: ref('Type'), project: text, user_id: text, body: text, client: text },
      isDead: { const: true },
    },
  ),
  Profile: object({
    ...{ project: text, user_id: text, properties: free },
    set_at: { type: 'object', additionalProperties: time },
    ...{ created_at: time, updated_at: time },
  }),
};

export const OPENAPI = {
  openapi: '3.1.0',
  info: {
    title: 'Event and user profile ingestion service',
    version: '1',
    description: 'Takes identifies and events, keeps them, and shows what was stored and refused.',
  },
  paths,
  components: {
    schemas,
    securitySchemes: {
      writeToken: { type: 'http', scheme: 'bearer', description: 'A write token.' },
      readToken: {
        ...{ type: 'http', scheme: 'bearer' },
        description: 'The read token, where the service was given one.',
      },
    },
  },
};
