/** Runs the worker of this folder in workerd, bundled and bound as wrangler would by its wrangler.json. */
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';

const config = JSON.parse(readFileSync('wrangler.json', 'utf8'));
const { outputFiles } = await build({
  entryPoints: [config.main],
  bundle: true,
  format: 'esm',
  conditions: ['workerd', 'worker', 'browser'],
  write: false,
});
const { PORT, SERVICE_URL, SERVICE_TOKEN, SITE_ORIGIN } = process.env;

const miniflare = new Miniflare({
  host: '127.0.0.1',
  port: Number(PORT),
  modules: [{ type: 'ESModule', path: 'worker.js', contents: outputFiles[0].text }],
  compatibilityDate: config.compatibility_date,
  bindings: { ...config.vars, SERVICE_URL, SERVICE_TOKEN, SITE_ORIGIN },
});
await miniflare.ready;
process.once('SIGTERM', () => miniflare.dispose());
