import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const DIST_FOLDER = fileURLToPath(new URL('../../dist', import.meta.url));

/** A built file's text. The tests run what is shipped, never the sources. */
export const readDist = (name: string): string => {
  try {
    return readFileSync(`${DIST_FOLDER}/${name}`, 'utf8').trim();
  } catch (cause) {
    throw new Error(`dist/${name} is missing: run \`npm run build\` first`, { cause });
  }
};
