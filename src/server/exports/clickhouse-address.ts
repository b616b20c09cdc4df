import { isLocalName } from '../../util/is-local-name.js';
import { mayFail } from '../../util/may-fail.js';

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

/** Decodes a part of an address that people have chosen. */
const decoded = (part: string): string => {
  const text = mayFail(() => decodeURIComponent(part));
  if (text === undefined) throw new TypeError('must have %25 in place of each "%"');
  if (/\p{Cc}/u.test(text)) throw new TypeError('must have no control characters');
  return text;
};

/** Reads an address. Throws an error that says what it has to look like. */
export const readClickhouseAddress = (text: string): ClickhouseAddress => {
  if (!/^clickhouse:\/\/./.test(text) || !URL.canParse(text))
    throw new TypeError('must be like clickhouse://user:password@host:8443/database');
  const { hostname, port, searchParams, username, password, pathname } = new URL(text);
  const [database = '', ...more] = decoded(pathname.slice(1)).split('/');
  if (!database || more.length)
    throw new TypeError('must name one database: clickhouse://host/database');
  for (const name of searchParams.keys())
    if (!OPTIONS.includes(name))
      throw new TypeError(`knows ${OPTIONS.join(', ')} behind the "?", and not \`${name}\``);
  const isPlain = isLocalName(hostname) || searchParams.has('insecure');
  const host = `${hostname}:${port || (isPlain ? 8123 : 8443)}`;
  const table = searchParams.get('table') ?? DEFAULT_TABLE;
  return {
    url: `${isPlain ? 'http' : 'https'}://${host}/`,
    user: decoded(username) || 'default',
    password: decoded(password),
    ...{ database, table, cell: searchParams.get('cell') ?? '' },
    name: `${host}/${database}${table === DEFAULT_TABLE ? '' : `.${table}`}`,
  };
};
