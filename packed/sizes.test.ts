/** What the built files, and single imports from them in an app, may weigh: `.size-limit.json` has the budgets. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import nodeResolve from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import { rollup } from 'rollup';
import { expect, it } from 'vitest';
import { ROOT } from './support/install.js';

interface Budget {
  name: string;
  path: string;
  /** What is imported from there. */
  import?: string;
  limit: string;
}

/** A quoted size may be off by so much: the last digit, and the zlib of another Node. */
const SLACK = 0.03;

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const budgets = JSON.parse(read('.size-limit.json')) as Budget[];

/** An app that does nothing but import this, bundled and made small as its bundler would. */
const bundle = async (names: string, path: string): Promise<string> => {
  const entry = '\0app';
  const app = {
    name: 'app',
    resolveId: (id: string) => (id === entry ? id : null),
    load: (id: string) => (id === entry ? `export ${names} from '${join(ROOT, path)}';` : null),
  };
  const bundled = await rollup({
    input: entry,
    plugins: [app, nodeResolve({ browser: true }), terser({ module: true, ecma: 2020 })],
    onLog: (level, { message }) => {
      // A dependency left out would make the measure a lie.
      if (level === 'warn') throw new Error(message);
    },
  });
  const { output } = await bundled.generate({ format: 'es' });
  return output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('');
};

/** The rows of the docs' table: name, size as it is quoted, budget. */
const rows = [
  ...read('docs/size.md').matchAll(/^\| `(.+?)` +\| ([\d.]+ k?B) +\| ([\d,]+ B) +\|$/gm),
];

it('the docs have every budget', () => {
  const quoted = rows.map(([, name, , limit]) => [name, limit!.replace(',', '')]);
  expect(quoted).toEqual(budgets.map(({ name, limit }) => [name, limit]));
  expect(read('README.md')).toContain(`\`outbox.js\` is ${rows[0]![2]} brotli`);
});

it.each(budgets)('$name is within its budget, and as large as the docs say', async (budget) => {
  const { name, path, limit } = budget;
  const code = budget.import ? await bundle(budget.import, path) : read(path);
  const size = brotliCompressSync(code).length;
  expect(size).toBeLessThanOrEqual(parseInt(limit));
  const [number = '', unit] = rows.find(([, row]) => row === name)![2]!.split(' ');
  const quoted = Number(number) * (unit === 'kB' ? 1_000 : 1);
  expect(Math.abs(size - quoted) / size, `it has ${size} B`).toBeLessThanOrEqual(SLACK);
});
