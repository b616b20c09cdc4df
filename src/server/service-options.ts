import { callback, isFunction, isText, positive, text, type Kind } from '../interface/kinds.js';
import { isToken } from '../interface/is-token.js';
import { checkOptions, objectWith, type Kinds, type OptionCheck } from './check-options.js';
import { PASS_ON_KINDS, type PassOnOptions } from './exports/pass-on.js';
import type { OutageNote } from './health/outages.js';
import type { Rate } from './http/admission.js';
import type { Origins } from './http/origin.js';
import type { Names } from './records.js';
import {
  checkClients,
  isList,
  isName,
  isRate,
  names,
  originsKind,
  SERVER_KINDS,
  type ServerOptions,
} from './relay-options.js';
import type { Store } from './store/port.js';

/** A token that may write to these projects, or to all (`'*'`). */
export interface WriteToken {
  token: string;
  projects: Names;
  /**
   * Records a second and at once of all senders with this token, or `false` for no limit: for a relay or server that
   * sends for many clients. @default that of each client, `rateLimit`
   */
  rate?: Rate | false | undefined;
}

/** A token that may read one project, and erase and send again nothing. */
export interface ReadToken {
  token: string;
  project: string;
}

/** A file of the page that shows the rows. */
export interface PageFile {
  body: string | Uint8Array<ArrayBuffer>;
  /** Its content type. */
  type: string;
}

/** Options of `createService`. */
export interface ServiceOptions extends ServerOptions {
  /** Where records are kept: `createLibsqlStore({ path })`, or `await createPostgresStore({ url })`. */
  store: Store;
  /** The tokens that may write outside of `relayPath`, each as `{ token, projects, rate }`. @default none */
  writeTokens?: readonly WriteToken[] | undefined;
  /**
   * Below this path, such as `/a`, pages of `origins` may send without a token. A token is ignored there.
   * @default none
   */
  relayPath?: string | undefined;
  /**
   * Origins whose pages may send below `relayPath`: `https://shop.example`, `https://*.shop.example`, or a function.
   * @default none
   */
  origins?: Origins | undefined;
  /**
   * Needed to read, export or erase: 16 characters or more, and none of the write tokens. Without it all of that is
   * open, but only under the local names of this machine (`localhost`, `127.0.0.1`, `[::1]`), and not with `origins` of
   * others.
   */
  readToken?: string | undefined;
  /**
   * Tokens that read one project alone and change nothing, each as `{ token, project }`. They read rows, profiles, counts
   * and refused records. With them nothing is open without a token. @default none
   */
  readTokens?: readonly ReadToken[] | undefined;
  /** Projects that may be written to; `'*'` for any. @default any */
  projects?: Names | undefined;
  /** Channels that events may be in; `'*'` for any. @default any */
  channels?: Names | undefined;
  /** Rows older than this are deleted, and profiles that no identify has changed for this long. @default never */
  retentionDays?: number | undefined;
  /**
   * Passes all rows on to another service as well, each in a request of its own: `{ baseUrl, token }` and more, as for
   * `createRelay`. @default none
   */
  passOn?: PassOnOptions | undefined;
  /** What this process calls itself in its health, such as `web-1`. @default a random word */
  processName?: string | undefined;
  /**
   * Where a time is noted in which no rows can be stored, until the database has it: `{ read, write }` of a text of up to
   * 4,096 characters. It should not need room on the disk. @default memory alone
   */
  outageNote?: OutageNote | undefined;
  /** The tag to paste, or a function that gives it, for the page that shows the rows. */
  tag?: string | (() => string) | undefined;
  /** File with a write token, for the command that this page shows. @default none */
  tokenFile?: string | undefined;
  /** Gives a file of the page that shows the rows. They are in `dist/rows/` of the package. @default no page */
  page?: ((file: string) => PageFile | undefined | Promise<PageFile | undefined>) | undefined;
}

/** A read token has to be hard to guess: it gives access to all rows, and can erase them. */
const MIN_READ_TOKEN = 16;
export const readToken: Kind = {
  words: `a token of ${MIN_READ_TOKEN} characters or more, in ASCII and without spaces`,
  fits: (value) => isToken(value) && value.length >= MIN_READ_TOKEN,
};
const SAME_TOKEN = 'must be another than the write tokens, which stand in pages';
const OF_MANY =
  'must have a token of its own for each project, and none that reads or writes anything else';

interface Tokens {
  readToken: string | undefined;
  readTokens: readonly ReadToken[];
  writeTokens: readonly WriteToken[];
}

/** Refuses read tokens that open more than they are meant to. The names are those of the two options. */
export const checkReadTokens = (
  { readToken, readTokens, writeTokens }: Tokens,
  [nameOfOne, nameOfMany]: readonly [string, string],
  wrong: OptionCheck['wrong'],
): void => {
  const written = writeTokens.map(({ token }) => token);
  if (readToken !== undefined && written.includes(readToken)) wrong(nameOfOne, SAME_TOKEN);
  const all = [...new Set([...written, readToken]), ...readTokens.map(({ token }) => token)];
  if (new Set(all).size < all.length) wrong(nameOfMany, OF_MANY);
};

const isReadToken = (value: unknown): boolean => {
  const { token, project } = (value ?? {}) as Partial<ReadToken>;
  return readToken.fits(token) && isName(project);
};
const isWriteToken = (value: unknown): boolean => {
  const { token, projects, rate } = (value ?? {}) as Partial<WriteToken>;
  const isFineRate = rate === undefined || rate === false || isRate(rate);
  return isToken(token) && (projects === '*' || isList(projects, isName)) && isFineRate;
};
const path: Kind = {
  words: 'a path like "/a"',
  fits: (value) => typeof value === 'string' && /^(\/[\w.~-]+)+$/.test(value),
};
const KINDS: Kinds<ServiceOptions> = {
  ...SERVER_KINDS,
  store: objectWith('write', 'check', 'refuse', 'rows', 'lastPlace', 'follow', 'close'),
  writeTokens: {
    words: 'a list of { token, projects, rate }, with a list of projects or "*" for all of them',
    fits: (value) => isList(value, isWriteToken),
  },
  relayPath: path,
  origins: originsKind,
  readToken,
  readTokens: {
    words: `a list of { token, project }, each with ${readToken.words}`,
    fits: (value) => isList(value, isReadToken),
  },
  projects: names,
  channels: names,
  retentionDays: positive,
  passOn: {
    words: 'an object with `baseUrl` and `token`',
    fits: (value) => typeof value === 'object',
  },
  processName: text,
  outageNote: objectWith('read', 'write'),
  tag: { words: 'a text, or a function', fits: (value) => isText(value) || isFunction(value) },
  tokenFile: text,
  page: callback,
};

/** Throws a TypeError that names each wrong option and what to write. */
export const checkServiceOptions = (options: ServiceOptions): void => {
  if (options?.passOn)
    checkOptions('createService, `passOn`', options.passOn, {
      kinds: PASS_ON_KINDS,
      required: ['baseUrl', 'token'],
    });
  checkOptions('createService', options, {
    kinds: KINDS,
    required: ['store'],
    together: (given, check) => {
      checkClients(given, check);
      const { missing, wrong } = check;
      const { readToken, readTokens, relayPath, origins, writeTokens } = given;
      checkReadTokens(
        {
          readToken,
          readTokens: isList(readTokens, isReadToken) ? readTokens! : [],
          writeTokens: isList(writeTokens, isWriteToken) ? writeTokens! : [],
        },
        ['readToken', 'readTokens'],
        wrong,
      );
      if (relayPath && !origins)
        missing('origins', 'the origins whose pages may send below `relayPath`');
      if (!relayPath && !writeTokens)
        missing('writeTokens', 'a list of { token, projects }, or `relayPath` with `origins`');
    },
  });
};
