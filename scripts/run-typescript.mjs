/**
 * Runs a TypeScript file, with what it imports, on any Node that the project supports: bundled into one
 * plain module first, so that long runs are as fast as JavaScript. Does not check types: `tsc` does.
 *
 *     node scripts/run-typescript.mjs lab/matrix/main.ts --help
 *
 * The file sees the arguments after its own name, as if Node had run it. Paths of its own go from
 * `process.cwd()`: `import.meta.url` is the bundle's.
 */
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Bundles for Node; packages are left to be imported. Returns the path of the bundle. */
const bundleTypescript = async (entry, outDir) => {
  const { output } = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    build: {
      ssr: resolve(entry),
      outDir,
      emptyOutDir: false,
      target: 'node20',
      minify: false,
      sourcemap: 'inline',
      rolldownOptions: {
        output: { format: 'es', entryFileNames: 'main.mjs', codeSplitting: false },
      },
    },
  });
  return resolve(outDir, output[0].fileName);
};

const isMain = process.argv[1] === fileURLToPath(import.meta.url);
if (isMain) {
  const [node, , entry, ...args] = process.argv;
  if (!entry) {
    console.error('Which file? node scripts/run-typescript.mjs <file.ts> [arguments]');
    process.exit(2);
  }
  // Of its own, since two runs may go on at once; inside the project, so that packages are found.
  const outDir = resolve(ROOT, '.tmp', `run-${process.pid}`);
  try {
    const bundle = await bundleTypescript(entry, outDir);
    process.setSourceMapsEnabled(true);
    process.argv = [node, bundle, ...args];
    await import(pathToFileURL(bundle).href);
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
}
