import { mayFail } from '../../util/may-fail.js';
import { isLocalName } from '../../util/is-local-name.js';
import { causeOf, readStart } from '../deliver/fetch.js';

/** Where a ClickHouse is, as `clickhouse://user:password@host:8123/database?table=rows` says it. */
export interface ClickhouseAddress {
  url: string;
  user: string;
  password: string;
  database: string;
  table: string;
  /** A name of this store for people, where several stores fill one table. */
  cell: string;
  /** Host, database and table: without a user or a password. */
  name: string;
}

const DEFAULT_TABLE = 'analytics_rows';
const OPTIONS = ['table', 'cell', 'insecure'];
/** How long one question may take. An insert has as long, since ClickHouse merges parts meanwhile. */
const TIMEOUT_MS = 60_000;
/** Characters of an error of ClickHouse that are shown. What stands behind quotes the data of a row. */
const MAX_WORDS = 300;
const QUOTES_DATA = / before: |\(at row |: \(while |While executing /;

/** The parts of an address. Texts that people choose are decoded. */
const partsOf = ({ hostname, port, searchParams, username, password, pathname }: URL) => ({
  ...{ hostname, port, searchParams },
  texts: [username, password, pathname].map((part) => {
    const decoded = mayFail(() => decodeURIComponent(part));
    if (decoded === undefined) throw new TypeError('must have %25 in place of each "%"');
    if (/\p{Cc}/u.test(decoded)) throw new TypeError('must have no control characters');
    return decoded;
  }) as [username: string, password: string, pathname: string],
});

/** Reads an address. Throws an error that says what it has to look like. */
export const readClickhouseAddress = (text: string): ClickhouseAddress => {
  if (!/^clickhouse:\/\/./.test(text) || !URL.canParse(text))
    throw new TypeError('must be like clickhouse://user:password@host:8443/database');
  const { hostname, port, searchParams, ...encoded } = partsOf(new URL(text));
  const [username, password, pathname] = encoded.texts;
  const [database = '', ...more] = pathname.slice(1).split('/');
  const [table, insecure] = [
    searchParams.get('table') ?? DEFAULT_TABLE,
    searchParams.has('insecure'),
  ];
  if (!database || more.length)
    throw new TypeError('must name one database: clickhouse://host/database');
  for (const name of searchParams.keys())
    if (!OPTIONS.includes(name))
      throw new TypeError(`knows ${OPTIONS.join(', ')} behind the "?", and not \`${name}\``);
  const isPlain = isLocalName(hostname) || insecure;
  const host = `${hostname}:${port || (isPlain ? 8123 : 8443)}`;
  return {
    cell: searchParams.get('cell') ?? '',
    url: `${isPlain ? 'http' : 'https'}://${host}/`,
    user: username || 'default',
    password,
    ...{
      database,
      table,
      name: `${host}/${database}${table === DEFAULT_TABLE ? '' : `.${table}`}`,
    },
  };
};

/** ClickHouse has answered with an error. `code`: https://github.com/ClickHouse/ClickHouse, ErrorCodes.cpp */
export class ClickhouseError extends Error {
  override name = 'ClickhouseError' as const;
  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message);
  }
}

/** A text as a value in a statement. No character of a stranger's text stands in the statement itself. */
export const textValue = (text: string): string =>
  `unhex('${Buffer.from(text, 'utf8').toString('hex')}')`;
/** The name of a database, table or column in a statement. */
export const quotedName = (name: string): string => `\`${name.replace(/[\\`]/g, '\\$&')}\``;

interface Asking {
  /** The rows of an insert. */
  rows?: string;
  queryId?: string;
  settings?: Readonly<Record<string, string | number>>;
  signal?: AbortSignal;
}

/** Asks a ClickHouse over HTTP. */
export const createClickhouseClient = ({ url, user, password, database }: ClickhouseAddress) => {
  /** Runs a statement, and returns the lines of its answer. */
  const ask = async (
    statement: string,
    { rows, queryId, settings = {}, signal }: Asking = {},
  ): Promise<string[]> => {
    const query = new URLSearchParams({
      // A statement may be longer than an address may be.
      ...(rows !== undefined && { query: statement }),
      database,
      // Without it an error in the middle of an answer would come with the status 200.
      ...{ wait_end_of_query: '1', ...settings },
      ...(queryId && { query_id: queryId }),
    });
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    let status: number;
    let text: string;
    try {
      const answer = await fetch(`${url}?${query}`, {
        method: 'POST',
        // ClickHouse closes idle connections after some seconds, and a request may then get no answer.
        headers: {
          ...{ connection: 'close', 'content-type': 'text/plain' },
          ...{
            'x-clickhouse-user': encodeHeader(user),
            'x-clickhouse-key': encodeHeader(password),
          },
        },
        body: rows ?? statement,
        redirect: 'manual',
        signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
      });
      status = answer.status;
      text = status === 200 ? await answer.text() : await readStart(answer);
    } catch (error) {
      throw new Error(`no answer: ${causeOf(error)}`, { cause: error });
    }
    const [, code] = /Code: (\d+)/.exec(text) ?? [];
    if (status !== 200 || code !== undefined) {
      const words = (
        code === undefined ? withoutTags(text) : text.replace(/^.*?DB::Exception: /s, '')
      )
        .split(QUOTES_DATA)[0]!
        .split('\n')[0]!;
      throw new ClickhouseError(
        `it answers ${status}: ${words.slice(0, MAX_WORDS) || 'nothing'}`,
        Number(code ?? 0),
      );
    }
    return text.split('\n').filter(Boolean);
  };
  return { ask };
};

export type ClickhouseClient = ReturnType<typeof createClickhouseClient>;

/** A header takes bytes: those of UTF-8 stand for characters. */
const encodeHeader = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
const withoutTags = (text: string): string =>
  text
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
