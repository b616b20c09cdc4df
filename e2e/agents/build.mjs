/**
 * Bundles each tool with its set-up, for `e2e/beside-other-tools.spec.ts`. Needs a registry for the first run. Does
 * nothing where they are built from what is there now.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installLocked } from '../../packed/support/install-locked.mjs';

const SOURCE = fileURLToPath(new URL('.', import.meta.url));
const FOLDER = fileURLToPath(new URL('../../.tmp/agents', import.meta.url));

installLocked({ source: SOURCE, folder: FOLDER, megabytes: 300 });
const files = readdirSync(SOURCE).filter((name) => name.endsWith('.js'));
for (const name of files) copyFileSync(join(SOURCE, name), join(FOLDER, name));
const build = `require('esbuild').buildSync(${JSON.stringify({
  ...{ entryPoints: files, outdir: 'dist', bundle: true, minify: true },
  ...{ format: 'iife', globalName: 'agent', platform: 'browser', logLevel: 'error' },
})})`;
execFileSync(process.execPath, ['-e', build], {
  cwd: FOLDER,
  stdio: ['ignore', 'ignore', 'inherit'],
});
