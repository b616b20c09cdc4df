import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_MODE, FOLDER_MODE } from '../server/private-files.js';

/** Reads a token that an earlier start has made, or makes one that only this user can read. */
export const madeToken = (folder: string, name: 'write-token' | 'read-token'): string => {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  const path = join(folder, name);
  const token = `${name === 'write-token' ? 'w' : 'r'}_${randomBytes(24).toString('base64url')}`;
  try {
    // If two programs start at once, one makes the token and the other reads it.
    writeFileSync(path, `${token}\n`, { mode: FILE_MODE, flag: 'wx' });
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const kept = readFileSync(path, 'utf8').trim();
    if (!kept) throw new Error(`${path} is empty: delete it`, { cause: error });
    return kept;
  }
};
