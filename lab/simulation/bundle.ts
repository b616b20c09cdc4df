import { build, type Plugin, type Rollup } from 'vite';
import { ENTRY } from './client.js';
import { GLOBALS, type Product } from './page.js';

/** `npm run` starts every script here, whether it is bundled or not. */
const ROOT = process.cwd();

/** A fault put into the code on purpose. */
export interface Mutation {
  file: string;
  change: (code: string) => string;
}

const mutate = ({ file, change }: Mutation): Plugin => ({
  name: 'mutate',
  enforce: 'pre',
  transform: (code, id) => (id.endsWith(file) ? change(code) : undefined),
});

/** The real code, as a function of the globals it sees: each page runs it anew. */
export const bundleProduct = async (mutation?: Mutation): Promise<Product> => {
  const built = (await build({
    configFile: false,
    root: ROOT,
    logLevel: 'silent',
    plugins: mutation ? [mutate(mutation)] : [],
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      lib: { entry: ENTRY, formats: ['iife'], name: 'product' },
    },
  })) as Rollup.RollupOutput[];
  const { code } = built[0]!.output[0];
  const run = new Function(...GLOBALS, `${code}\nreturn product;`) as (
    ...globals: unknown[]
  ) => ReturnType<Product>;
  return (globals) => run(...GLOBALS.map((name) => globals[name]));
};
