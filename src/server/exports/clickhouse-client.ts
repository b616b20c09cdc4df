import { causeOf, readStart } from '../deliver/fetch.js';
import type { ClickhouseAddress } from './clickhouse-address.js';

/** How long a statement may take. An insert may have to wait while ClickHouse merges parts. */
const TIMEOUT_MS = 60_000;
/** How many characters of an error are shown. */
const MAX_WORDS = 300;
/** Behind these words ClickHouse quotes the data of a row, which nobody else should read. */
const QUOTES_DATA = / before: |\(at row |: \(while |While executing /;

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

interface AskOptions {
  /** The rows of an insert. */
  rows?: string;
  queryId?: string;
  settings?: Readonly<Record<string, number>>;
  signal?: AbortSignal | undefined;
}

/** Runs a statement, and returns the lines of its answer. */
export type Ask = (statement: string, options?: AskOptions) => Promise<string[]>;

/** A header takes bytes: those of UTF-8 stand for characters. */
const encodeHeader = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** An answer that is no error of ClickHouse: perhaps a page of a proxy. */
const plainText = (text: string): string =>
  text
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
/** The error in an answer, if there is one, in one line without data of rows. */
const errorOf = (status: number, text: string): ClickhouseError | undefined => {
  const [, code] = /Code: (\d+)/.exec(text) ?? [];
  if (status === 200 && code === undefined) return undefined;
  const whole =
    code === undefined ? plainText(text) : text.replace(/^.*?DB::Exception: /s, '').split('\n')[0]!;
  const words = whole.split(QUOTES_DATA)[0]!.slice(0, MAX_WORDS) || 'nothing';
  return new ClickhouseError(`it answers ${status}: ${words}`, Number(code ?? 0));
};

/** Makes the function that asks a ClickHouse over HTTP. */
export const createAsk = ({ url, user, password, database }: ClickhouseAddress): Ask => {
  const headers = {
    // ClickHouse closes idle connections after some seconds, and a request may then get no answer.
    ...{ connection: 'close', 'content-type': 'text/plain' },
    ...{ 'x-clickhouse-user': encodeHeader(user), 'x-clickhouse-key': encodeHeader(password) },
  };

  return async (statement, { rows, queryId, settings, signal } = {}) => {
    const query = new URLSearchParams({
      // A statement may be longer than an address may be.
      ...(rows !== undefined && { query: statement }),
      ...(queryId && { query_id: queryId }),
      // Without it an error in the middle of an answer would come with the status 200.
      ...{ database, wait_end_of_query: '1' },
    });
    for (const [setting, value] of Object.entries(settings ?? {}))
      query.set(setting, String(value));
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    let status: number;
    let text: string;
    try {
      const answer = await fetch(`${url}?${query}`, {
        method: 'POST',
        headers,
        body: rows ?? statement,
        redirect: 'manual',
        signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
      });
      status = answer.status;
      text = status === 200 ? await answer.text() : await readStart(answer);
    } catch (error) {
      throw new Error(`no answer: ${causeOf(error)}`, { cause: error });
    }
    const error = errorOf(status, text);
    if (error) throw error;
    return text.split('\n').filter(Boolean);
  };
};
