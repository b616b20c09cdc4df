import type { RecordType } from '../interface/bodies.js';
import { FIELDS } from '../interface/validate.js';
import { MAX_BATCH_RECORDS } from '../interface/wire.js';
import { MAX_BODY_BYTES } from './http/body.js';
import { SUMS } from './store/hours.js';
import { MAX_SPLIT } from './store/split.js';
import { MAX_DAYS, MAX_PARTS, MAX_START, MAX_TAGS, MAX_USERS } from './reading/looking-query.js';
import { MAX_HOURS, MAX_LIMIT, MAX_PROFILES, MAX_RESENT, MAX_TEXT } from './reading/query.js';
import { MAX_ID, MAX_RECORD } from './records.js';

/** The service as OpenAPI 3.1. A test calls every path, parameter and status in it. */

const text = { type: 'string' };
const count = { type: 'integer' };
const time = { type: 'string', format: 'date-time' };
const truth = { type: 'boolean' };
const free = { type: 'object', additionalProperties: true };
const id = { ...text, maxLength: MAX_ID };
const oneOf = (...values: string[]) => ({ enum: values });
const listOf = (items: object, most?: number) => ({
  ...{ type: 'array', items },
  ...(most && { maxItems: most }),
});
const object = (required: object, optional: object = {}) => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
});
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** The schema for the words of a field. */
const MEANINGS: Readonly<Record<string, object>> = {
  'a string': text,
  'a non-empty string': { ...text, minLength: 1 },
  'an object': free,
  'a date-time of RFC 3339': time,
  'true or false': truth,
};
/** The body of an operation, made from the fields that the check uses. */
const bodyOf = (type: RecordType, more: Readonly<Record<string, object>>) => {
  const fields = Object.entries(FIELDS[type]).map(([name, { words, mayLack = false }]) => ({
    ...{ name, mayLack, schema: { ...MEANINGS[words], ...more[name] } },
  }));
  const those = (lack: boolean) =>
    Object.fromEntries(
      fields.filter(({ mayLack }) => mayLack === lack).map(({ name, schema }) => [name, schema]),
    );
  return object(those(false), those(true));
};

const REASON = oneOf(
  ...(['token', 'origin', 'body', 'field', 'project', 'size', 'rate'] as const),
  ...(['database', 'target'] as const),
);
const HEALTH = oneOf('ok', 'failing');
const named = { project: text, user_id: text, type: ref('Type') };
const schemas = {
  Identify: bodyOf('identify', {}),
  Event: bodyOf('event', { notify: { default: false } }),
  Type: oneOf(...Object.keys(FIELDS)),
  Record: object({ id, type: ref('Type'), body: free }, { called_at: count }),
  Batch: object({ sent_at: time, records: listOf(ref('Record'), MAX_BATCH_RECORDS) }),
  Success: object({ success: { const: true }, message: text }),
  Error: object({ code: count, message: text }, { detail: text }),
  Result: object(
    { id, status: count, outcome: oneOf('delivered', 'accepted', 'retry', 'blocked', 'rejected') },
    { retry_after: count, untried: { const: true }, unlisted: text, field: text, message: text },
  ),
  Results: object({ results: listOf(ref('Result')) }),
  Health: object({ status: HEALTH }),
  Storing: object(
    { state: oneOf('ok', 'failing', 'untried') },
    { since: time, last: time, problem: text, room: object({ free: count, size: count }) },
  ),
  Arriving: object(
    { state: oneOf('usual', 'silent', 'learning', 'unknown') },
    { last: time, usual: count, project: text },
  ),
  RefusedHealth: object(
    { state: oneOf('usual', 'many', 'unknown'), last_hour: count },
    { since: time, usual: { type: 'number' } },
  ),
  HealthOfProcess: object(
    { status: HEALTH, process: text, storing: ref('Storing'), arriving: ref('Arriving') },
    { problem: text, service: free, refused: ref('RefusedHealth'), targets: listOf(ref('Target')) },
  ),
  Row: object(
    {
      ...{ seq: count, id: text, type: ref('Type'), project: text, body: free },
      ...{ called_at: time, received_at: time, arrivals: count },
    },
    { channel: text, event: text, user_id: text, client: text, from_server: { const: true } },
  ),
  Looked: object({ place: count, is_all: truth }, { since: time }),
  Rows: object({ rows: listOf(ref('Row')), next: count }, { looked: ref('Looked') }),
  Refused: object(
    {
      ...{ seq: count, received_at: time, status: count, message: text },
      reason: REASON,
    },
    { target: text, id: text, ...named, body: text, client: text, isDead: { const: true } },
  ),
  AllRefused: object({ refused: listOf(ref('Refused')), next: count }),
  Seqs: object({ seqs: listOf(count, MAX_RESENT) }),
  Resent: object({ seq: count, outcome: oneOf('stored', 'known', 'dead') }, { message: text }),
  AllResent: object({ results: listOf(ref('Resent')) }),
  Times: { type: 'object', additionalProperties: time },
  Profile: object({
    ...{ project: text, user_id: text, properties: free, set_at: ref('Times') },
    ...{ created_at: time, updated_at: time },
  }),
  User: object({ rows: listOf(ref('Row')), next: count }, { profile: ref('Profile') }),
  SeenUser: object(
    {
      ...{ project: text, user_id: text, last_seen: time, rows: count },
      days: listOf({ type: ['integer', 'null'] }, MAX_DAYS - 1),
    },
    { properties: { type: 'object', additionalProperties: text } },
  ),
  Users: object(
    { users: listOf(ref('SeenUser'), MAX_USERS) },
    { next: text, looked: ref('Looked') },
  ),
  Profiles: object({ profiles: listOf(ref('Profile')) }, { next: text }),
  Count: object({ project: text, type: ref('Type'), rows: count }),
  Totals: object({ counts: listOf(ref('Count')), refused: count }),
  Hour: object({
    hour: time,
    ...Object.fromEntries([...SUMS, 'repeats'].map((name) => [name, count])),
  }),
  SplitRows: object({ channel: text, event: text, rows: listOf(count, MAX_HOURS) }),
  Hours: object(
    { hours: listOf(ref('Hour'), MAX_HOURS) },
    { events: listOf(ref('SplitRows'), MAX_SPLIT + 1), is_behind: { const: true } },
  ),
  RefusedHours: object({ refused: listOf(object({ hour: time, reason: REASON, n: count })) }),
  Outage: object({ from: time, to: time, process: text, problem: text }),
  Outages: object({ outages: listOf(ref('Outage')) }),
  Later: object({ rows: count, is_all: { type: 'boolean' } }),
  LookedAt: object({ place: count, is_all: truth, rows: count }, { since: time }),
  PartCount: object({ name: text, value: text, rows: count, is_exact: truth }),
  FilterCounts: object(
    { rows: count, is_exact: truth, filters: listOf(ref('PartCount'), MAX_PARTS) },
    { looked: ref('LookedAt') },
  ),
  ValueCount: object({ value: text, rows: count }, { is_part: { const: true } }),
  TagValues: object({ tag: text, values: listOf(ref('ValueCount'), 10), others: count }),
  HourRows: object({ hour: time, rows: count }),
  Breakdown: object({
    ...{
      rows: count,
      hours: listOf(ref('HourRows'), MAX_HOURS + 1),
      is_exact: truth,
      users: count,
    },
    ...{ tags: listOf(ref('TagValues'), MAX_TAGS), names: listOf(text, 100) },
    looked: ref('LookedAt'),
  }),
  Counts: {
    oneOf: [
      ...[ref('Totals'), ref('Hours'), ref('RefusedHours'), ref('FilterCounts')],
      ref('Breakdown'),
    ],
  },
  Target: object(
    { name: text, place: count, behind: count, delay_ms: count, dead: count, parked: count },
    { message: text },
  ),
  Targets: object({ targets: listOf(ref('Target')) }),
  Deleted: object({ deleted: count }, { message: text }),
  ToDelete: object({ rows: count, upto: count }, { message: text }),
  Deletion: { oneOf: [ref('ToDelete'), ref('Deleted')] },
  Steps: object({}, { file: time, preflight: time, accepted: time, stored: time }),
  Problem: object({ at: time, message: text, step: text }),
  Setup: object({ steps: ref('Steps') }, { tag: text, tokenFile: text, problem: ref('Problem') }),
  Document: free,
};
type Name = keyof typeof schemas;

const contentOf = (schema: object, ...types: string[]) =>
  Object.fromEntries(types.map((type) => [type, { schema }]));
const json = (description: string, name: Name) => ({
  ...{ description, content: contentOf(ref(name), 'application/json') },
});
const ok = (description: string, name: Name) => ({ 200: json(description, name) });
const failure = (description: string) => json(description, 'Error');
const toWait = (description: string) => ({
  ...failure(description),
  headers: { 'Retry-After': { description: 'Seconds to wait.', schema: count } },
});
const asks = (name: Name) => ({
  requestBody: { required: true, content: contentOf(ref(name), 'application/json') },
});
const parameterIn = (place: string) => (name: string, schema: object, description: string) => ({
  ...{ name, in: place, description, schema },
});
const header = parameterIn('header');
const query = parameterIn('query');
const inWords = (most: number): string => most.toLocaleString('en-US');

/** What any of the operations may answer. */
const REFUSED = {
  400: failure('Invalid request data; `detail` says what is wrong.'),
  401: failure('No token, or a wrong one.'),
  413: failure(
    `A body of over ${inWords(MAX_BODY_BYTES)} bytes, too many records or values, or a record of over ${inWords(MAX_RECORD)} characters.`,
  ),
  415: failure('A content type other than application/json, or an encoding other than gzip.'),
  429: toWait('Too many records of this client.'),
  503: toWait('The database does not work, too much comes, or the body did not come in time.'),
};
const SINGLE = {
  ...ok('Stored, or known already.', 'Success'),
  403: failure('The token may not write to the project, or the lists lack it or the channel.'),
  422: failure('The database refuses this record. It is kept among the refused.'),
  ...REFUSED,
};
const NOT_ALLOWED = {
  401: failure('No read token, or a wrong one.'),
  403: failure(
    'A page of another site, a foreign name of a service without a read token, or a token of one project that asks for more.',
  ),
};
const DOWN = { 503: toWait('The database does not work.') };
const WRONG = { 400: failure('What is wrong with the query or the body.'), ...DOWN };
const NO_FILE = { 403: failure('A page of another site.'), 404: failure('There is no such file.') };

const ONE = oneOf('1');
const limit = (most: number) =>
  query('limit', count, `How many at the most, up to ${inWords(most)}.`);
const RECORD = [
  header('Idempotency-Key', id, 'The id of the record. A repeat is stored once.'),
  header('X-Called-At', time, 'The time of the call, where the body has none.'),
  header(
    'X-Record-From',
    oneOf('browser'),
    '`browser`: a server passes on what a browser has called. Without it, and without an `Origin`, a server has made the record.',
  ),
];
const SPAN = [
  query('after', count, 'Only what is behind this place.'),
  query('before', count, 'Only what is before this place.'),
  limit(MAX_LIMIT),
  query('newest', ONE, '`1`: the newest first.'),
];
const PROJECT = query('project', text, 'Only of this project.');
const FILTER = [
  PROJECT,
  query('channel', text, 'Only of this channel.'),
  query('user', text, 'Only of this user.'),
  query('type', ref('Type'), 'Only of this type.'),
  query('event', listOf(text), 'Only events of these names.'),
  query('not', listOf(text), 'No events of these names.'),
  query('text', { ...text, maxLength: MAX_TEXT }, 'Any text of the body, whatever its case.'),
  query('tag', listOf(text), 'Only with these tags or properties: `name=value`, or a name alone.'),
  query('from', time, 'Only what arrived from this time on.'),
  query('to', time, 'Only what arrived before this time.'),
  query('mine', ONE, '`1`: only of the browser that asks.'),
];
const ROWS = [
  query('format', oneOf('json', 'ndjson', 'csv', 'sse'), 'Or by the Accept header.'),
  query('bom', ONE, '`1`: CSV begins with a byte order mark, for Excel.'),
  query('brief', ONE, '`1`: looks for about a second at the most, and says how far it came.'),
  ...FILTER,
  header('Last-Event-ID', text, 'Server-sent events go on behind this one.'),
  ...SPAN,
];
const PROFILES = [
  PROJECT,
  query('user', text, 'Only this user.'),
  query('after', text, 'The `next` of the page before.'),
  limit(MAX_PROFILES),
];
const COUNTING = [
  query(
    'by',
    oneOf('hour', 'refused', 'filter'),
    '`hour`: rows by the hour of their arrival, of `from` to `to`, `project`, `channel` and `event`. `refused`: refused answers by hour and reason, of `from` to `to` and `project`. `filter`: how many rows fit all that follows, and each part of it alone. Without it any part but `project` asks for what the rows that fit come to: a `tag` without a value is one whose values are counted.',
  ),
  query('split', oneOf('event'), 'By hour, `event`: the rows of each channel and event, too.'),
  ...FILTER,
];
const TIMES = [
  query('from', time, 'From this time on. By default 30 days before `to`.'),
  query('to', time, 'Before this time. By default now.'),
];
const DELETION = [
  { ...query('project', text, 'Only of this project.'), required: true },
  query('channel', text, 'Only of this channel.'),
  query('event', text, 'Only events of this name.'),
  query('from', time, 'Only what arrived from this time on.'),
  query('to', time, 'Only what arrived before this time.'),
  query('dry', ONE, '`1`: counts the rows, and deletes none.'),
  query('upto', count, 'The `upto` of that answer: deletes the rows before this place.'),
];
const USER = [
  { ...query('project', text, 'The project.'), required: true },
  { ...query('user', text, 'The user.'), required: true },
];
const USERS = [
  query('format', oneOf('json', 'ndjson'), 'Of one user, or by the Accept header.'),
  query('project', text, 'Only of this project. One user has to be named with it.'),
  query('user', text, 'This user alone. Without it users are listed, by who was here last.'),
  query(
    'start',
    { ...text, maxLength: MAX_START },
    'Users whose ids begin like this, by their ids.',
  ),
  query('tag', text, 'Users with this property in their profiles: `name=value`, or a name alone.'),
  query('day', listOf(time, MAX_DAYS), 'When the days begin by which rows are counted, and end.'),
  query('after', text, 'Of a list, its `next`; of one user, a place.'),
  ...SPAN.slice(1),
];
const FILE = [{ name: 'file', in: 'path', required: true, schema: text }];

const PAGE = {
  description:
    'JSON: a page of rows. NDJSON and CSV: all rows that match. Server-sent events: `row`, `refused`, `erased`, `setup`, `health`, `ready` and `replaced`; the last 200 rows at once, then what is new.',
  content: {
    ...contentOf(ref('Rows'), 'application/json'),
    ...contentOf(ref('Row'), 'application/x-ndjson'),
    ...contentOf(text, 'text/csv', 'text/event-stream', 'text/html'),
  },
};
const USER_PAGE = {
  description:
    'JSON: the profile and a page of rows, or a list of users. NDJSON: the profile, if there is one, and all rows.',
  content: {
    ...contentOf({ oneOf: [ref('User'), ref('Users')] }, 'application/json'),
    ...contentOf({ oneOf: [ref('Profile'), ref('Row')] }, 'application/x-ndjson'),
  },
};
const SCRIPT = { description: 'The file.', content: contentOf(text, 'text/javascript') };

/** Makes an operation that needs a token that writes, one that reads, or none. */
const operation =
  (security: object[], always: object) =>
  (id: string, summary: string, answers: object, parameters: object[] = [], body?: Name) => ({
    ...{ operationId: id, summary, security, parameters, ...(body && asks(body)) },
    responses: { ...answers, ...always },
  });
const write = operation([{ writeToken: [] }], REFUSED);
const read = operation([{ readToken: [] }, {}], NOT_ALLOWED);
const ask = operation([{}], {});

const BATCH = ok('What became of each, in their order.', 'Results');
const LETTERS = { ...ok('A page of them.', 'AllRefused'), ...WRONG };
const RESENT = { ...ok('What became of each that was there.', 'AllResent'), ...WRONG };
const PAGE_OF_PROFILES = { ...ok('A page of them.', 'Profiles'), ...WRONG };
const OUTAGES = { ...ok('The newest 100 that touch the time.', 'Outages'), ...WRONG };
const LATER = { ...ok('How many, as far as they were counted in time.', 'Later'), ...WRONG };
const COUNTS = { ...ok('The numbers.', 'Counts'), ...WRONG };
const DELETED = { ...ok('How many rows there were.', 'Deleted'), ...WRONG };
const DELETION_DONE = {
  ...ok('With `dry=1` how many rows there are, else how many there were.', 'Deletion'),
  ...WRONG,
};
const FILES = { 200: SCRIPT, ...NO_FILE };
const HEALTH_ANSWERS = {
  ...ok('Rows are stored, or none was tried.', 'HealthOfProcess'),
  503: json('Rows are not stored.', 'HealthOfProcess'),
};
const READY = { ...ok('They can.', 'Health'), 503: json('They cannot.', 'Health') };

const paths = {
  '/v1/identify': { post: write('identify', 'Updates a profile.', SINGLE, RECORD, 'Identify') },
  '/v1/event': { post: write('event', 'Creates an event.', SINGLE, RECORD, 'Event') },
  '/v1/batch': { post: write('batch', 'Takes many, and answers for each.', BATCH, [], 'Batch') },
  '/rows': {
    get: read('rows', 'The rows, or their page.', { 200: PAGE, ...WRONG }, ROWS),
    delete: read('deleteRows', 'Counts rows, or deletes them.', DELETION_DONE, DELETION),
  },
  '/rows/{file}': { get: ask('pageFile', 'A file of the page of the rows.', FILES, FILE) },
  '/refused': { get: read('refused', 'What was refused, and why.', LETTERS, [PROJECT, ...SPAN]) },
  '/refused/resend': { post: read('resend', 'Stores refused records.', RESENT, [], 'Seqs') },
  '/profiles': { get: read('profiles', 'Profiles of users.', PAGE_OF_PROFILES, PROFILES) },
  '/counts': {
    get: read('counts', 'How much is stored, and how much was refused.', COUNTS, COUNTING),
  },
  '/exports': {
    get: read('exports', 'How far the targets of exports are.', ok('The targets.', 'Targets')),
  },
  '/users': {
    get: read(
      'user',
      'All that is known of a user, or users.',
      { 200: USER_PAGE, ...WRONG },
      USERS,
    ),
    delete: read('erase', 'Erases all that is known of a user.', DELETED, USER),
  },
  '/setup': { get: read('setup', 'How far setting up has come.', ok('The steps.', 'Setup')) },
  '/outages': {
    get: read('outages', 'The times in which no rows were stored.', OUTAGES, TIMES),
  },
  '/outages/later': {
    get: read(
      'outagesLater',
      'Counts rows that were called in a time, and came after it.',
      LATER,
      TIMES.map((one) => ({ ...one, required: true })),
    ),
  },
  '/health': {
    get: read('health', 'Whether rows are stored, arrive and are sent on.', HEALTH_ANSWERS),
  },
  '/openapi.json': { get: ask('openapi', 'This document.', ok('All of it.', 'Document')) },
  '/live': { get: ask('live', 'Whether the process answers.', ok('It does.', 'Health')) },
  '/ready': { get: ask('ready', 'Whether records can be stored.', READY) },
};

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description });

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
      writeToken: bearer('A write token.'),
      readToken: bearer(
        'The read token, where the service was given one; or a token that reads one project, and erases and sends again nothing.',
      ),
    },
  },
};
