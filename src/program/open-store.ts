import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../util/errors.js';
import type { Store } from '../service.js';
import { load } from '../util/load.js';

const openFile = async (url: string, mustExist: boolean): Promise<Store> => {
  const path = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length);
  if (mustExist && !existsSync(path))
    throw new Error(
      'there is no such file. Run this in the folder of the program, or set DATA_FOLDER or DATABASE_URL',
    );
  const { createLibsqlStore } = await load('libsql', () => import('../service-libsql.js'));
  return createLibsqlStore({ path });
};

const openPostgres = async (url: string): Promise<Store> => {
  const { createPostgresStore } = await load('pg', () => import('../service-postgres.js'));
  return createPostgresStore({ url });
};

/** An address for messages: without its user and its query, either of which may hold a password. */
export const withoutPassword = (url: string): string => {
  if (url.startsWith('file:')) return url;
  if (!URL.canParse(url)) return `${url.split(':')[0]}://…`;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
};

interface Opening {
  /** What messages call the address. */
  name?: string;
  /** Rejects if the file is missing. */
  mustExist?: boolean;
}

/** Opens the database, or rejects with words that name the setting. */
export const openStore = async (
  url: string,
  { name = '`DATABASE_URL`', mustExist = false }: Opening = {},
): Promise<Store> => {
  try {
    return await (url.startsWith('file:') ? openFile(url, mustExist) : openPostgres(url));
  } catch (error) {
    throw new Error(`${name} (${withoutPassword(url)}): ${messageOf(error)}`, { cause: error });
  }
};
