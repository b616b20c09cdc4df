/**
 * Writes a folder with a `package.json` for each entry below the main one, from `exports`. Parcel and TypeScript's
 * `node10` look for folders, and not at `exports`. Part of the build; git ignores the folders.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));

/** What an app takes whose bundler does not look at `exports`. */
const manifestOf = (path, { import: module, require }) => {
  const from = (file) => posix.relative(path, file);
  return {
    main: from(require.default),
    module: from(module.default),
    types: from(require.types.replace(/\.d\.cts$/, '.d.ts')),
    sideEffects: false,
  };
};

for (const [path, conditions] of Object.entries(exports)) {
  if (path === '.' || !conditions.import) continue;
  const folder = `${ROOT}${path}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    `${folder}/package.json`,
    `${JSON.stringify(manifestOf(path, conditions), null, 2)}\n`,
  );
}
