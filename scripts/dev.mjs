/**
 * `npm run dev`: the demo from its sources. A change of the page or of the snippet shows at once, as the page loads
 * itself anew; a change of a server starts the servers again.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Beside demo/dist, since the server finds its files from there. */
const FRESH = new URL('../demo/.dev/', import.meta.url);

/** Asks each second whether there is another build. */
const RELOAD = `(() => {
  let known;
  setInterval(async () => {
    const built = await fetch('/built.txt').then((answer) => answer.text(), () => known);
    if (known && built !== known) location.reload();
    known = built;
  }, 1000);
})();`;

const PAGES = {
  page: 'demo/page/main.tsx',
  tab: 'demo/page/tab.ts',
  outbox: 'src/script.ts',
  'outbox-relay': 'src/script-relay.ts',
  'outbox-auto': 'src/script-auto.ts',
};
const MODULES = { 'outbox-dev': 'src/script-dev.ts', stub: 'src/stub.ts' };

/** Builds now, and whenever one of the sources has changed. Settles after the first build. */
const watch = async ({ input, name, format, isServer = false }, onBuilt) => {
  const watcher = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    build: {
      ...{ outDir: fileURLToPath(FRESH), emptyOutDir: false, minify: false, watch: {} },
      ...(isServer && { ssr: true, target: 'node20' }),
      rolldownOptions: {
        input: `${ROOT}${input}`,
        output: {
          ...{ format, entryFileNames: `${name}.js`, codeSplitting: false },
          ...(name === 'page' && { banner: RELOAD }),
        },
      },
    },
  });
  await new Promise((resolve) => {
    watcher.on('event', ({ code, error }) => {
      if (code === 'ERROR') console.error(error.message);
      if (code !== 'END') return;
      onBuilt();
      resolve();
    });
  });
};

if (!existsSync(new URL('../dist/rows/rows.js', import.meta.url)))
  spawnSync(process.execPath, ['scripts/build.mjs', '--demo'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
rmSync(FRESH, { recursive: true, force: true });
mkdirSync(FRESH, { recursive: true });
writeFileSync(new URL('package.json', FRESH), '{ "type": "module" }\n');

let server;
const run = `import('./demo.js').then(({ runDemo }) => runDemo({ fresh: new URL('${FRESH.href}') }))`;
const restart = () => {
  server?.kill();
  const args = ['--input-type=module', '-e', run];
  server = spawn(process.execPath, args, { cwd: fileURLToPath(FRESH), stdio: 'inherit' });
};
const told = () => writeFileSync(new URL('built.txt', FRESH), String(Date.now()));

for (const [name, input] of Object.entries(PAGES))
  await watch({ input, name, format: 'iife' }, told);
for (const [name, input] of Object.entries(MODULES))
  await watch({ input, name, format: 'es' }, told);
await watch({ input: 'demo/site/main.ts', name: 'demo', format: 'es', isServer: true }, restart);
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    server?.kill();
    process.exit();
  });
