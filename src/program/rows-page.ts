import { readFileSync } from 'node:fs';

const TYPES: Readonly<Record<string, string>> = {
  '': 'text/html; charset=utf-8',
  '/rows.js': 'text/javascript; charset=utf-8',
  '/rows.css': 'text/css; charset=utf-8',
};

/** Reads the files of the page `/rows`, which stand beside the program. The path is what follows `/rows`. */
export const createRowsPage =
  (folder: URL) =>
  (path: string): { body: string; type: string } | undefined => {
    const type = TYPES[path];
    if (type === undefined) return undefined;
    return { body: readFileSync(new URL(path.slice(1) || 'index.html', folder), 'utf8'), type };
  };
