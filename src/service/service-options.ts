import { callback, isFunction, isText, positive } from '../interface/kinds.js';
import { isToken } from '../interface/is-token.js';
import { checkOptions, HOOK_KINDS, objectWith, type Kinds } from '../relay/check-options.js';
import type { Names } from '../relay/front/records.js';
import type { AdmissionOptions } from '../relay/front/admission.js';
import { isOrigin } from '../relay/front/http.js';
import { isList, isRate, names } from '../relay/front/relay-options.js';
import type { ServiceHooks } from './hooks.js';
import type { Store } from './store/port.js';

/** A token that may write, and the projects it may write to; `'*'` stands for all of them. */
export interface WriteToken {
  token: string;
  projects: Names;
}

/** A file of the page that shows the rows. */
export interface PageFile {
  body: string | Uint8Array<ArrayBuffer>;
  /** Its content type. */
  type: string;
}

/** Options of `createService`. */
export interface ServiceOptions
  extends ServiceHooks, Pick<AdmissionOptions, 'clientAddress' | 'rateLimit' | 'ceiling'> {
  /** Where records are kept: `createLibsqlStore({ path })`, or `await createPostgresStore({ url })`. */
  store: Store;
  /** The tokens that the two operations take. Only their SHA-256 is kept. */
  writeTokens: readonly WriteToken[];
  /**
   * Asked for by everything that reads, exports or erases. Without it all of that is open, but only under the local
   * names of this machine (`localhost`, `127.0.0.1`, `[::1]`).
   */
  readToken?: string | undefined;
  /** Projects that may be written to; `'*'` for any. @default any */
  projects?: Names | undefined;
  /** Channels that events may be in; `'*'` for any. @default any */
  channels?: Names | undefined;
  /** Origins whose pages may call the two operations. @default any: a token is asked for in any case */
  origins?: readonly string[] | undefined;
  /** Rows older than this are deleted a while after, and profiles that no identify has touched for as long. @default never */
  retentionDays?: number | undefined;
  /** The tag to paste, for the page that waits for the first row, or a function that gives it. */
  tag?: string | (() => string) | undefined;
  /** Gives the files of the page that shows the rows: `index.html` and those it names. @default no page */
  page?: ((file: string) => PageFile | undefined | Promise<PageFile | undefined>) | undefined;
  /** Replaced by tests. */
  now?: (() => number) | undefined;
}

const isWriteToken = (value: unknown): boolean => {
  const { token, projects } = (value ?? {}) as Partial<WriteToken>;
  return isToken(token) && (projects === '*' || isList(projects, isText));
};
const KINDS: Kinds<ServiceOptions> = {
  ...HOOK_KINDS,
  store: objectWith('write', 'check', 'refuse', 'rows', 'lastPlace', 'follow', 'close'),
  writeTokens: {
    words: 'a list of { token, projects }, with a list of projects or "*" for all of them',
    fits: (value) => isList(value, isWriteToken),
  },
  readToken: { words: 'a string of ASCII characters without spaces', fits: isToken },
  projects: names,
  channels: names,
  origins: {
    words: 'a list of origins like "https://shop.example"',
    fits: (value) => isList(value, isOrigin),
  },
  clientAddress: callback,
  rateLimit: {
    words: '{ perSecond, burst }, a function, or false',
    fits: (value) => value === false || isFunction(value) || isRate(value),
  },
  ceiling: {
    words: '{ perSecond, burst }, or false',
    fits: (value) => value === false || isRate(value),
  },
  retentionDays: positive,
  tag: { words: 'a text, or a function', fits: (value) => isText(value) || isFunction(value) },
  page: callback,
  now: callback,
};

/** Throws a TypeError that names each wrong option and what to write. */
export const checkServiceOptions = (options: ServiceOptions): void =>
  checkOptions('createService', options, {
    kinds: KINDS,
    required: ['store', 'writeTokens'],
    together: ({ clientAddress, rateLimit }, { missing }) => {
      if (!clientAddress && rateLimit !== false) {
        missing(
          'clientAddress',
          "a function that gets the client's address from a request, or `rateLimit: false` where no " +
            'client is to be limited',
        );
      }
    },
  });
