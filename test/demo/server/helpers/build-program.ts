import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { rollup, type Plugin } from 'rollup';
import ts from 'typescript';
import { onTestFinished } from 'vitest';

/**
 * Builds the service as one file that plain Node runs, so that these tests need no build before
 * them. Types are not checked here: it takes a fraction of the time of the real build.
 */
export async function buildProgram(): Promise<string> {
  // Inside the project, for the program must find node_modules.
  await mkdir('.tmp', { recursive: true });
  const folder = await mkdtemp(resolve('.tmp', 'service-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'service.js');
  const bundle = await rollup({
    input: resolve('demo/server/main.ts'),
    external: (id) => !id.startsWith('.') && !id.startsWith('/') && !/^[A-Z]:/i.test(id),
    plugins: [typescript()],
  });
  await bundle.write({ file, format: 'es', inlineDynamicImports: true });
  return file;
}

function typescript(): Plugin {
  return {
    name: 'typescript-without-checks',
    resolveId(id, importer) {
      if (!importer || !id.startsWith('.')) return null;
      const file = resolve(importer, '..', `${id.replace(/\.js$/, '')}.ts`);
      return existsSync(file) ? file : null;
    },
    async load(file) {
      const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
      return ts.transpileModule(await readFile(file, 'utf8'), { compilerOptions }).outputText;
    },
  };
}
