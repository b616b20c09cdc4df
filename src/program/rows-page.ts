import { readFile } from 'node:fs/promises';

const TYPES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'rows.js': 'text/javascript; charset=utf-8',
  'rows.css': 'text/css; charset=utf-8',
  'show.css': 'text/css; charset=utf-8',
};

/** Reads the files of the page `/rows`, which are beside the program. */
export const createRowsPage =
  (folder: URL) =>
  async (file: string): Promise<{ body: string; type: string } | undefined> => {
    const type = Object.hasOwn(TYPES, file) ? TYPES[file] : undefined;
    return type ? { body: await readFile(new URL(file, folder), 'utf8'), type } : undefined;
  };
