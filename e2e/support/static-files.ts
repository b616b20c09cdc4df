import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

export interface StaticFile {
  type: string;
  body: Buffer;
}

/**
 * A file of a folder by its URL path, as static hosts find it: `/` is `/index.html`, and `/about` also
 * `/about.html` or `/about/index.html`. Undefined if there is none. Never one outside the folder.
 */
export const readStaticFile = async (
  folder: string,
  urlPath: string,
): Promise<StaticFile | undefined> => {
  if (urlPath.endsWith('/')) return readOne(folder, `${urlPath}index.html`);
  const names = extname(urlPath) ? [''] : ['', '.html', '/index.html'];
  for (const end of names) {
    const file = await readOne(folder, urlPath + end);
    if (file) return file;
  }
  return undefined;
};

const readOne = async (folder: string, name: string): Promise<StaticFile | undefined> => {
  const path = normalize(join(folder, name));
  if (!path.startsWith(normalize(folder) + sep)) return undefined;
  try {
    return {
      type: TYPES[extname(path)] ?? 'application/octet-stream',
      body: await readFile(path),
    };
  } catch {
    // Not there, or a folder: both are a 404 to a browser.
    return undefined;
  }
};
