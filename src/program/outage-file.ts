import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { FILE_MODE } from '../server/private-files.js';
import type { OutageNote } from '../service.js';

const SIZE = 4_096;

/**
 * A file that notes when rows could not be stored. It is made at the start, since it can be written over on a full disk,
 * where no file can be made.
 */
export const createOutageFile = (path: string): OutageNote => {
  const write = (text: string): Promise<void> =>
    writeFile(path, Buffer.from(text.padEnd(SIZE)).subarray(0, SIZE), { flag: 'r+' }).catch(
      () => {}, // the outage is still in memory
    );
  let writing: Promise<void> = Promise.resolve();
  try {
    if (!existsSync(path)) writeFileSync(path, ' '.repeat(SIZE), { mode: FILE_MODE });
  } catch {
    // The folder cannot be written to. Then the outage is in memory alone.
  }
  return {
    read: () => (existsSync(path) ? readFileSync(path, 'utf8') : undefined),
    write: (text) => void (writing = writing.then(() => write(text))),
  };
};
