/** What would be published, from the packed tarball: what it holds, its form, its types, and what importing it does. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix, relative, resolve, sep } from 'node:path';
import semver from 'semver';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUNDLED } from '../rollup.names.mjs';
import { ENTRIES, MANIFEST } from './support/entries.js';
import { ROOT, TARBALL, unpackInto } from './support/install.js';

/** Script files, for a tag: nothing to import from them, so no types either. */
const SCRIPTS = Object.keys(MANIFEST.exports).filter((path) => path.endsWith('.js'));

const textsIn = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value as object).flatMap(textsIn);
const SHIPPED = new Set([
  ...textsIn(MANIFEST.exports).map((path) => posix.normalize(path)),
  ...Object.values(MANIFEST.bin).map((path) => posix.normalize(path)),
  ...ENTRIES.map((name) => posix.relative(MANIFEST.name, `${name}/package.json`)),
  // The page of the service that shows its rows.
  ...['index.html', 'rows.css', 'rows.js', 'show.css'].map((name) => `dist/rows/${name}`),
  'dist/LICENSES.txt',
]);
/** Files that the entries share. */
const SHARED = /^dist\/(types-[\w-]+\.d\.c?ts|(capture|client|relay)-shared-[\w-]+\.c?js)$/;
const MAY_SHIP = /^(docs\/[\w-]+\.md|dist\/outbox(-\w+)?\.js\.map|LICENSE|(README|CHANGELOG)\.md)$/;
const MAX_UNPACKED_BYTES = 3_196_000;

/** What may be imported by name, beside Node's own modules, and by which files. */
const IMPORTS: Record<string, RegExp> = {
  hono: /^dist\/service\./,
  libsql: /^dist\/(service-libsql|program\.js)/,
  pg: /^dist\/service-postgres\./,
  undici: /^dist\/relay-node\./,
  'prom-client': /^dist\/program\.js$/,
  '@hono/node-server': /^dist\/program\.js$/,
};
/** Optional peers that users hand over: nothing here imports them. */
const HANDED_OVER = ['web-vitals'];

const EXITS_WITHIN_MS = 170_000;

const folder = mkdtempSync(join(tmpdir(), 'analytics-outbox-package-'));
/** It stands alone here: nothing that it may ask for is installed beside it. */
let installed = '';
let files: string[] = [];
beforeAll(() => {
  installed = unpackInto(folder);
  files = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(installed, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const textOf = (file: string): string => readFileSync(join(installed, file), 'utf8');

/** What the command prints. */
const run = (args: readonly string[], cwd = folder): string => {
  const options = { encoding: 'utf8', timeout: EXITS_WITHIN_MS, cwd } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  expect(status, `${stdout}${stderr}`).toBe(0);
  return `${stdout}${stderr}`.trim();
};

describe('the files', () => {
  it('are what users need, and no others', () => {
    expect([...SHIPPED].filter((name) => !files.includes(name))).toEqual([]);
    const isKnown = (name: string) => SHIPPED.has(name) || SHARED.test(name) || MAY_SHIP.test(name);
    expect(files.filter((name) => !isKnown(name))).toEqual([]);
  });

  it('are all of this build', () => {
    const code = files.filter((name) => name.startsWith('dist/')).map(textOf);
    const isUsed = (name: string) => {
      const imported = basename(name).replace(/\.d\.(c?)ts$/, '.$1js');
      return code.some((text) => text.includes(`./${imported}`));
    };
    expect(files.filter((name) => SHARED.test(name) && !isUsed(name))).toEqual([]);
  });

  it('are not too large together', () => {
    const bytes = files.reduce((sum, name) => sum + statSync(join(installed, name)).size, 0);
    expect(bytes).toBeLessThanOrEqual(MAX_UNPACKED_BYTES);
  });

  /** Relative links alone: of the rest, and of anchors, the tests of the pages know more. */
  it('have pages whose links lead to one another', () => {
    const isThere = (path: string) => files.some((file) => `${file}/`.startsWith(`${path}/`));
    const brokenOf = (page: string) =>
      [...textOf(page).matchAll(/\]\(([^)\s#]+)/g)]
        .map(([, link]) => link!)
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => !isThere(posix.join(posix.dirname(page), link)))
        .map((link) => `${page}: ${link}`);
    expect(files.filter((name) => name.endsWith('.md')).flatMap(brokenOf)).toEqual([]);
  });

  it('have the licenses of what is inside', () => {
    const text = textOf('dist/LICENSES.txt');
    for (const name of BUNDLED) {
      const manifest = readFileSync(join(ROOT, `node_modules/${name}/package.json`), 'utf8');
      expect(text).toContain(`${name} ${(JSON.parse(manifest) as { version: string }).version} (`);
    }
  });

  it('have source maps that stay inside', () => {
    const maps = files.filter((name) => name.endsWith('.map'));
    expect(maps).not.toEqual([]);
    for (const name of maps) {
      const map = JSON.parse(textOf(name)) as { sources: string[]; sourcesContent: unknown[] };
      for (const [index, source] of map.sources.entries()) {
        expect(source).not.toMatch(/^([a-z]+:|[/\\])/i);
        expect(resolve(installed, dirname(name), source).startsWith(installed + sep)).toBe(true);
        expect(typeof map.sourcesContent[index], `${name}: ${source}`).toBe('string');
      }
    }
    for (const name of files.filter((file) => /\.c?js$/.test(file))) {
      const [, map] = /^\/\/# sourceMappingURL=(.+)$/m.exec(textOf(name)) ?? [];
      if (map) expect(existsSync(join(installed, dirname(name), map)), name).toBe(true);
    }
  });
});

describe('the manifest', () => {
  it('says where the package comes from and where to turn to', () => {
    const web = MANIFEST.repository.url.replace(/^git\+(.+)\.git$/, '$1');
    expect([MANIFEST.homepage, MANIFEST.bugs]).toEqual([`${web}#readme`, `${web}/issues`]);
  });

  /** npm warns (EBADENGINE) of what does not support its Node, but for what is optional, which it leaves out. */
  it('names an oldest Node on which all can be installed, as the README does', () => {
    const [, oldest = ''] = /^>=([\d.]+)$/.exec(MANIFEST.engines.node) ?? [];
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    expect(/Node (\d+\.\d+) or later/.exec(readme)?.[1]).toBe(oldest);
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { engines?: { node?: string }; optional?: boolean }>;
    };
    const unfit = Object.entries(lock.packages).filter(
      ([, { engines, optional }]) =>
        engines?.node && !optional && !semver.satisfies(`${oldest}.0`, engines.node),
    );
    expect(unfit.map(([path]) => path)).toEqual([]);
  });

  it('asks for what the files import, and they import it only where it is used', () => {
    const { peerDependencies, peerDependenciesMeta } = MANIFEST;
    const optional = Object.keys(peerDependencies).filter(
      (name) => peerDependenciesMeta[name]?.optional && !HANDED_OVER.includes(name),
    );
    const imported = files
      .filter((name) => /^dist\/.*(\.c?js|\.d\.c?ts)$/.test(name))
      .flatMap((file) => importsIn(textOf(file)).map((name) => ({ file, name })));
    expect([...new Set(imported.map(({ name }) => name))].sort()).toEqual(optional.sort());
    expect(imported.filter(({ file, name }) => !IMPORTS[name]?.test(file))).toEqual([]);
  });

  it('is well formed (publint)', () => {
    run([join(ROOT, 'node_modules/publint/src/cli.js'), TARBALL, '--strict']);
  });
});

/** Names of packages in import, export and require; not Node's own modules. */
const importsIn = (code: string): string[] => {
  const found = code.matchAll(
    /(?:^(?:import|export)\b[^'"`;]*|\b(?:import|require)\()['"]([^'"]+)['"]/gm,
  );
  // A message shows how to import our own name.
  const isOther = (name: string) => !/^(\.|node:)/.test(name) && !name.startsWith(MANIFEST.name);
  // A part of a package, such as `hono/cors`, is of that package.
  const packageOf = (name: string) => /^(@[^/]+\/)?[^/]+/.exec(name)![0];
  return [...found]
    .map(([, name]) => name!)
    .filter(isOther)
    .map(packageOf);
};

describe('the types', () => {
  it('resolve everywhere (attw)', () => {
    const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    run([attw, TARBALL, '--profile', 'strict', '--exclude-entrypoints', ...SCRIPTS]);
  });

  const { ESNext, Node16, NodeNext } = ts.ModuleKind;
  const { Node10, Bundler, ...resolution } = ts.ModuleResolutionKind;
  it.each([
    ['Node10', ESNext, Node10],
    ['Node16', Node16, resolution.Node16],
    ['NodeNext', NodeNext, resolution.NodeNext],
    ['Bundler', ESNext, Bundler],
  ])('compile for who has `skipLibCheck` off, under %s', (_, module, moduleResolution) => {
    const lines = ENTRIES.map((name, index) => `export * as e${index} from '${name}';`);
    // Those of ESM and those of CommonJS.
    const consumers = ['consumer.mts', 'consumer.cts'].map((name) => join(folder, name));
    for (const file of consumers) writeFileSync(file, lines.join('\n'));
    const program = ts.createProgram(consumers, {
      ...{ module, moduleResolution, target: ts.ScriptTarget.ES2022, types: [], noEmit: true },
      ...{ lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'] },
      ignoreDeprecations: '6.0', // of Node10, which reads the folders of the entries
      ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
      skipDefaultLibCheck: true, // the compiler's own are not ours, and take most of the time
    });
    const found = ts
      .getPreEmitDiagnostics(program)
      .map(({ file, messageText }) => [
        file?.fileName,
        ts.flattenDiagnosticMessageText(messageText, '\n'),
      ]);
    expect(found).toEqual([]);
  });
});

/** Runs in the consumer's folder, after `loaded` was imported or required there. */
const use = (options: object) => `
  const { createAnalytics, analytics } = loaded;
  for (const instance of [analytics, createAnalytics()]) {
    instance.init(${JSON.stringify({ ...options, project: 'p', channel: 'c' })});
    instance.identify('user');
    instance.event('Event', { tags: { a: 1 } });
    instance.flush().catch((error) => { throw error; });
  }
`;
/** What is imported, and used with which options. */
const USES: Record<string, string> = {
  [MANIFEST.name]: use({ baseUrl: 'http://127.0.0.1:9', token: 't' }),
  [`${MANIFEST.name}/relay-client`]: use({ relay: '/a' }),
  [`${MANIFEST.name}/testing`]: use({ relay: '/a' }),
  [`${MANIFEST.name}/autocapture`]: 'loaded.autocapture({}, { pageviews: true })();',
};
const BEFORE = 'const before = new Set(Object.getOwnPropertyNames(globalThis));';
const AFTER = `
  const added = Object.getOwnPropertyNames(globalThis).filter((name) => !before.has(name));
  if (added.length) throw new Error('importing adds globals: ' + added);`;

it.each(Object.keys(USES))('%s does nothing in Node, and lets it exit', (name) => {
  const imported = `${BEFORE} const loaded = await import('${name}'); ${AFTER} ${USES[name]}`;
  const required = `${BEFORE} const loaded = require('${name}'); ${AFTER} ${USES[name]}`;
  expect(run(['--input-type=module', '-e', imported])).toBe('');
  expect(run(['--conditions=development', '--input-type=module', '-e', imported])).toBe('');
  expect(run(['-e', required])).toBe('');
});
