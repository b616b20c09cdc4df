/** Loads the installed package with the tools of its users. Each prints what the entries export. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER, ROOT } from './install.js';

const MODULES = join(FOLDER, 'node_modules');
const WORK = join(FOLDER, 'tools');
mkdirSync(WORK, { recursive: true });
const ENDS_WITHIN_MS = 120_000;
/** What entries import that the package does not bring: bundling it would take longer than all that is ours. */
const PEERS = ['libsql', 'undici'];

/** The names of what each entry exports. */
type Loaded = Record<string, string[]>;
type Load = (names: readonly string[]) => Loaded;

/** What plain Node finds, which is what all others are to find. */
export const loadInNode: Load = (names) => exportsIn(node(write('node.mjs', importing(names))));

export const TOOLS: Record<string, Load> = {
  'Node by require': (names) => exportsIn(node(write('node.cjs', requiring(names)))),
  Vitest: byVitest,
};

/** Tools that come from a registry. */
export const NIGHTLY_TOOLS: Record<string, Load> = {
  'Jest 29 in Node': (names) => byJest(29, 'node', names),
  'Jest 29 in jsdom': (names) => byJest(29, 'jsdom', names),
  'Jest 30 in Node': (names) => byJest(30, 'node', names),
  'Jest 30 in jsdom': (names) => byJest(30, 'jsdom', names),
  'esbuild for Node': (names) => byEsbuild('node', names),
  'webpack 5 for Node': (names) => byWebpack('node', names),
  'Parcel 2 for Node': (names) => byParcel('node', names),
};

/** The same for entries that pages import. */
export const BROWSER_TOOLS: Record<string, Load> = {
  'esbuild for browsers': (names) => byEsbuild('browser', names),
  'webpack 5 for browsers': (names) => byWebpack('web', names),
  'Parcel 2 for browsers': (names) => byParcel('browser', names),
};

function byJest(version: 29 | 30, environment: 'node' | 'jsdom', names: readonly string[]): Loaded {
  const environments = { node: 'node', jsdom: join(MODULES, `jest-environment-jsdom-${version}`) };
  const file = write('loads.test.cjs', `${requiring(names)}\n${RECORDS}`);
  const config = {
    rootDir: WORK,
    testEnvironment: environments[environment],
    testMatch: [file],
    verbose: false,
  };
  // In band, where a worker's console would reach us wrapped.
  return exportsIn(
    node(
      ...[join(MODULES, `jest-${version}/bin/jest.js`), '--runInBand', '--no-cache'],
      ...['--config', JSON.stringify(config)],
    ),
  );
}

function byVitest(names: readonly string[]): Loaded {
  const test = { include: ['loads.test.mjs'], server: { deps: { inline: ['analytics-outbox'] } } };
  write('vitest.config.mjs', `export default ${JSON.stringify({ test })};`);
  write(
    'loads.test.mjs',
    `${importing(names)}\nimport { expect, test } from 'vitest';\n${RECORDS}`,
  );
  return exportsIn(node(join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', WORK));
}

function byEsbuild(platform: 'node' | 'browser', names: readonly string[]): Loaded {
  const options = {
    ...{ platform, bundle: true, external: PEERS },
    ...{ entryPoints: [write('entry.mjs', importing(names))], outfile: join(WORK, 'esbuild.cjs') },
  };
  node(write('run-esbuild.cjs', `require('esbuild').buildSync(${JSON.stringify(options)});`));
  return exportsIn(node(options.outfile));
}

function byWebpack(target: 'node' | 'web', names: readonly string[]): Loaded {
  const options = {
    ...{
      mode: 'production',
      target,
      externals: PEERS.map((name) => ({ [name]: `commonjs ${name}` })),
    },
    entry: write('entry.mjs', importing(names)),
    output: { path: WORK, filename: 'webpack.cjs' },
  };
  const code = `require('webpack')(${JSON.stringify(options)}, (error, stats) => {
    if (error || stats.hasErrors() || stats.hasWarnings()) throw error ?? stats.toString();
  });`;
  node(write('run-webpack.cjs', code));
  return exportsIn(node(join(WORK, 'webpack.cjs')));
}

/** Parcel reads its targets from the `package.json` beside the entry. */
function byParcel(context: 'node' | 'browser', names: readonly string[]): Loaded {
  const outputFormat = context === 'node' ? 'commonjs' : 'global';
  const loaded = {
    context,
    outputFormat,
    distDir: '.',
    includeNodeModules: Object.fromEntries(PEERS.map((name) => [name, false])),
  };
  const targets = { main: false, loaded };
  write('package.json', JSON.stringify({ private: true, loaded: 'parcel.js', targets }));
  const entry = write('entry.mjs', importing(names));
  node(join(MODULES, 'parcel/lib/bin.js'), 'build', entry, '--no-cache', '--no-source-maps');
  return exportsIn(node(join(WORK, 'parcel.js')));
}

/** The instance for tests, in the file that loads all entries. */
const RECORDS = `test('records', () => {
  const { analytics } = loaded['analytics-outbox/testing'];
  analytics.event('Signed Up', { plan: 'pro' });
  expect(analytics.events().map(({ event }) => event)).toEqual(['Signed Up']);
});`;

const importing = (names: readonly string[]): string =>
  [...names.map((name, i) => `import * as e${i} from '${name}';`), printing(names)].join('\n');

const requiring = (names: readonly string[]): string =>
  [...names.map((name, i) => `const e${i} = require('${name}');`), printing(names)].join('\n');

/** Code that prints the names of what each entry exports, but for those that turning one format into another adds. */
const printing = (names: readonly string[]): string => `
  const loaded = { ${names.map((name, i) => `'${name}': e${i}`)} };
  const isOurs = (name) => !/^(default|__esModule|module\\.exports)$/.test(name);
  const exported = Object.entries(loaded).map(([name, entry]) => [
    name,
    Object.keys(entry).filter(isOurs).sort(),
  ]);
  console.log('EXPORTS ' + JSON.stringify(Object.fromEntries(exported)) + ' END');`;

const exportsIn = (output: string): Loaded => {
  const [, json] = /EXPORTS (.*) END/.exec(output) ?? [];
  if (!json) throw new Error(`it loads nothing:\n${output}`);
  return JSON.parse(json) as Loaded;
};

function write(name: string, text: string): string {
  const file = join(WORK, name);
  writeFileSync(file, text);
  return file;
}

/** What Node prints as it runs this; throws with it where that fails. */
function node(...args: string[]): string {
  const options = { cwd: WORK, encoding: 'utf8', timeout: ENDS_WITHIN_MS } as const;
  const { status, error, stdout, stderr } = spawnSync(process.execPath, args, options);
  if (status === 0) return `${stdout}${stderr}`;
  throw new Error(`${error?.message ?? `exit code ${status}`}\n${stdout}${stderr}`);
}
