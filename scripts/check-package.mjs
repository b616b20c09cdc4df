/**
 * Checks what would be published, from the packed tarball: that it has what users need once, its form, its
 * types, what it imports, its source maps, that importing it in plain Node does nothing, and that the tools of its
 * users load it. Run after the build. Needs a registry for the first run; `RECIPES=skip` leaves those tools out.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import semver from 'semver';
import ts from 'typescript';
import { BUNDLED } from './bundled.mjs';
import { BROWSER_LOADERS, LOADERS, installLoaders } from './loaders/loaders.mjs';
import { writeResult } from './test-result.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

const PUBLINT = join(ROOT, 'node_modules/publint/src/cli.js');
const ATTW = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
/** Script files, for a tag: nothing to import from them, so no types either. */
const SCRIPT_ENTRIES = [
  './outbox.js',
  './outbox-relay.js',
  './outbox-auto.js',
  './outbox-dev.js',
  './outbox-inspector.js',
  './stub.js',
];

/** Names of what is imported or required. */
const ENTRIES = Object.keys(manifest.exports)
  .filter((path) => !/\.js(on)?$/.test(path))
  .map((path) => posix.join(manifest.name, path));
const BROWSER_ENTRIES = ENTRIES.filter((name) => !/\/(relay|service)(\/|$)/.test(name));
/** What is loaded by bundlers and in a page's tests, too. The service runs on a server, beside what it asks for. */
const ELSEWHERE_ENTRIES = ENTRIES.filter((name) => !/\/service(\/|$)/.test(name));

/** Their files. */
const LIBRARIES = [
  'index',
  'relay',
  'relay-client',
  'context',
  'inspector',
  'autocapture',
  'relay-libsql',
  'relay-redis',
  'relay-cloudflare',
  'relay-node',
  'service',
  'service-libsql',
  'service-postgres',
  'testing',
  'compat-segment',
  'compat-logsnag',
  'compat-posthog',
  'compat-plausible',
  'compat-umami',
  'compat-gtag',
];

const SHIPPED = [
  'dist/outbox.js',
  'dist/outbox-relay.js',
  'dist/outbox-auto.js',
  'dist/outbox-dev.js',
  'dist/outbox-inspector.js',
  'dist/stub.js',
  // The page of the service that shows its rows.
  ...['index.html', 'rows.css', 'rows.js'].map((name) => `dist/rows/${name}`),
  'dist/LICENSES.txt',
  'dist/relay-program.js',
  'dist/service-program.js',
  ...ENTRIES.map((name) => posix.relative(manifest.name, `${name}/package.json`)),
  // For developers, in place of others whose types they have.
  'dist/index-dev.js',
  'dist/relay-client-dev.js',
  ...LIBRARIES.flatMap((name) =>
    ['js', 'cjs', 'd.ts', 'd.cts'].map((end) => `dist/${name}.${end}`),
  ),
];
/** Files that the entries share. */
const SHARED = /^dist\/(client|relay)-shared-[\w-]+\.(c?js|d\.c?ts)$/;
const MAY_SHIP =
  /^(docs\/[\w-]+\.md$|dist\/(outbox|outbox-relay|outbox-auto|outbox-dev|outbox-inspector)\.js\.map$|package\.json$|LICENSE$|(README|CHANGELOG)\.md$)/;
/** It was 4.7 MB with the sources, and again in source maps, and pictures. The service and the inspector are in it. */
const MAX_UNPACKED_BYTES = 3_150_000;

/** What may be imported by name, beside Node's own modules, and by which files. */
const IMPORTS = {
  hono: /^dist\/service\./,
  // With what the queue and the service's file share.
  libsql: /^dist\/(relay-libsql|service-libsql|relay-shared)/,
  pg: /^dist\/service-postgres\./,
  redis: /^dist\/(relay|service)-program\.js$/,
  undici: /^dist\/relay-node\.|^dist\/(relay|service)-program\.js$/,
  'prom-client': /^dist\/(relay|service)-program\.js$/,
  '@hono/node-server': /^dist\/(relay|service)-program\.js$/,
};

/** Optional peers that users hand over: nothing here imports them. */
const HANDED_OVER = ['web-vitals'];

const EXITS_WITHIN_MS = 20_000;

/** Runs in the consumer's folder, after `loaded` was imported or required there. */
const use = (options) => `
  const added = Object.getOwnPropertyNames(globalThis).filter((name) => !before.has(name));
  if (added.length) throw new Error('importing adds globals: ' + added);
  const { createAnalytics, analytics } = loaded;
  for (const instance of [analytics, createAnalytics()]) {
    instance.init(${JSON.stringify({ ...options, project: 'p', channel: 'c' })});
    instance.identify('user');
    instance.event('Event', { tags: { a: 1 } });
    instance.flush().catch((error) => { throw error; });
  }
`;
/** What is imported, and used with which options. */
const USES = {
  [manifest.name]: use({ baseUrl: 'http://127.0.0.1:9', token: 't' }),
  [`${manifest.name}/relay-client`]: use({ relay: '/a' }),
  [`${manifest.name}/testing`]: use({ relay: '/a' }),
  [`${manifest.name}/autocapture`]: `
    const added = Object.getOwnPropertyNames(globalThis).filter((name) => !before.has(name));
    if (added.length) throw new Error('importing adds globals: ' + added);
    loaded.autocapture({}, { pageviews: true })();
  `,
};
const BEFORE = 'const before = new Set(Object.getOwnPropertyNames(globalThis));';

const folder = mkdtempSync(join(tmpdir(), 'analytics-outbox-package-'));
try {
  const tarball = pack();
  const installed = install(tarball);
  const checks = {
    'holds what users need, once': () => checkFiles(installed),
    'has pages whose links lead to what is in it': () => checkLinks(installed),
    'says where it comes from and where to turn to': checkAddresses,
    'installs on the oldest Node that it names, without a warning': checkEngines,
    'imports only what it brings or asks for, where it is used': () => checkImports(installed),
    'is well formed (publint)': () => run(process.execPath, [PUBLINT, tarball, '--strict']),
    'has types that resolve everywhere (attw)': () =>
      run(process.execPath, [
        ATTW,
        tarball,
        '--profile',
        'strict',
        '--exclude-entrypoints',
        ...SCRIPT_ENTRIES,
      ]),
    'has types that compile however modules are resolved': checkTypes,
    'has the licenses of what is inside': () => checkLicenses(installed),
    'has source maps that stay inside': () => checkSourceMaps(installed),
    'does nothing when imported in Node': () => {
      for (const [name, code] of Object.entries(USES)) {
        const load = `${BEFORE} const loaded = await import('${name}');`;
        for (const conditions of [[], ['--conditions=development']]) {
          checkQuiet([...conditions, '--input-type=module', '-e', load + code]);
        }
      }
    },
    'does nothing when required in Node': () => {
      for (const [name, code] of Object.entries(USES)) {
        checkQuiet(['-e', `${BEFORE} const loaded = require('${name}'); ${code}`]);
      }
    },
  };
  const loads = {
    ...forEach(
      LOADERS,
      (load, name) => () =>
        checkLoads(load, /( for Node|jsdom)$/.test(name) ? ELSEWHERE_ENTRIES : ENTRIES),
    ),
    ...forEach(BROWSER_LOADERS, (load) => () => checkLoads(load, BROWSER_ENTRIES)),
  };
  const skipped = process.env.RECIPES === 'skip' ? Object.keys(loads).length : 0;
  if (skipped) console.log(`left out, since RECIPES=skip: ${Object.keys(loads).join(', ')}`);
  else
    Object.assign(
      checks,
      { 'can be put beside its users’ tools': () => installLoaders(installed) },
      loads,
    );
  const failed = Object.entries(checks).filter(([name, check]) => !passes(name, check)).length;
  writeResult('package', { passed: Object.keys(checks).length - failed, failed, skipped });
  process.exitCode = failed ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function passes(name, check) {
  try {
    check();
    console.log(`✓ ${name}`);
    return true;
  } catch (error) {
    console.log(`✗ ${name}\n${error.message.replace(/^/gm, '    ')}`);
    return false;
  }
}

function forEach(loaders, checkOf) {
  const checks = Object.entries(loaders).map(([name, load]) => [
    `loads with ${name}`,
    checkOf(load, name),
  ]);
  return Object.fromEntries(checks);
}

function pack() {
  // On Windows npm is a script, which only a shell starts.
  const shell = process.platform === 'win32';
  run('npm', ['pack', '--pack-destination', folder], { cwd: ROOT, shell });
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz')),
  );
}

/** Unpacks it, which is all that an install does: it has no dependencies. */
function install(tarball) {
  const modules = join(folder, 'node_modules');
  const target = join(modules, manifest.name);
  mkdirSync(target, { recursive: true });
  run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  return target;
}

function checkFiles(installed) {
  const files = filesOf(installed);
  fail(
    'missing',
    SHIPPED.filter((name) => !files.includes(name)),
  );
  fail(
    'should not be there',
    files.filter((name) => !SHIPPED.includes(name) && !SHARED.test(name) && !MAY_SHIP.test(name)),
  );
  const code = files
    .filter((name) => name.startsWith('dist/'))
    .map((name) => read(installed, name));
  const isUsed = (name) => {
    const imported = basename(name).replace(/\.d\.(c?)ts$/, '.$1js');
    return code.some((text) => text.includes(`./${imported}`));
  };
  fail(
    'from an earlier build',
    files.filter((name) => SHARED.test(name) && !isUsed(name)),
  );
  const bytes = files.reduce((sum, name) => sum + statSync(join(installed, name)).size, 0);
  console.log(`  ${bytes} B unpacked, of ${MAX_UNPACKED_BYTES} B at the most`);
  if (bytes > MAX_UNPACKED_BYTES) throw new Error(`${bytes} B unpacked`);
}

/** Relative links alone: of the rest, and of anchors, the tests of the pages know more. */
function checkLinks(installed) {
  const files = filesOf(installed);
  const isThere = (path) => files.some((file) => file === path || file.startsWith(`${path}/`));
  const brokenOf = (page) =>
    [...read(installed, page).matchAll(/\]\(([^)\s#]+)/g)]
      .map(([, link]) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => !isThere(posix.join(posix.dirname(page), link)))
      .map((link) => `${page}: ${link}`);
  fail('lead nowhere', files.filter((name) => name.endsWith('.md')).flatMap(brokenOf));
}

function checkAddresses() {
  const { repository, homepage, bugs } = manifest;
  const web = repository.url.replace(/^git\+(.+)\.git$/, '$1');
  if (homepage !== `${web}#readme` || bugs !== `${web}/issues`) {
    throw new Error(`not of one project: ${repository.url}, ${homepage}, ${bugs}`);
  }
}

/** npm warns (EBADENGINE) of what does not support its Node, but for what is optional, which it leaves out. */
function checkEngines() {
  const oldest = semver.minVersion(manifest.engines.node).version;
  const named = /Node (\d+\.\d+) or later/.exec(read(ROOT, 'README.md'))?.[1];
  if (`${named}.0` !== oldest) throw new Error(`the README names ${named}, \`engines\` ${oldest}`);
  const { packages } = read(ROOT, 'package-lock.json', JSON.parse);
  const unfit = Object.entries(packages).filter(
    ([, { engines, optional }]) =>
      engines?.node && !optional && !semver.satisfies(oldest, engines.node),
  );
  fail(
    `do not support Node ${oldest}`,
    unfit.map(([path, { engines }]) => `${path} needs ${engines.node}`),
  );
}

function checkImports(installed) {
  const { dependencies = {}, peerDependencies, peerDependenciesMeta } = manifest;
  const optional = Object.keys(peerDependenciesMeta).filter(
    (name) =>
      peerDependenciesMeta[name].optional &&
      name in peerDependencies &&
      !HANDED_OVER.includes(name),
  );
  const declared = [...Object.keys(dependencies), ...optional].sort();
  const imported = filesOf(installed)
    .filter((name) => /^dist\/.*(\.c?js|\.d\.c?ts)$/.test(name))
    .flatMap((file) => importsOf(read(installed, file)).map((name) => ({ file, name })));
  const names = [...new Set(imported.map(({ name }) => name))].sort();
  if (`${names}` !== `${declared}`) throw new Error(`imports ${names}, declares ${declared}`);
  fail(
    'imported where it should not be',
    imported
      .filter(({ file, name }) => !IMPORTS[name]?.test(file))
      .map(({ file, name }) => `${file}: ${name}`),
  );
}

/** Names of packages in import, export and require; not Node's own modules. */
function importsOf(code) {
  const found = code.matchAll(
    /(?:^(?:import|export)\b[^'"`;]*|\b(?:import|require)\()['"]([^'"]+)['"]/gm,
  );
  // A message shows how to import our own name.
  const isOther = (name) => !/^(\.|node:)/.test(name) && !name.startsWith(manifest.name);
  // A part of a package, such as `hono/cors`, is of that package.
  const packageOf = (name) => /^(@[^/]+\/)?[^/]+/.exec(name)[0];
  return [...found]
    .map(([, name]) => name)
    .filter(isOther)
    .map(packageOf);
}

/** As whoever has `skipLibCheck` off: the declarations themselves are checked, with all entries imported at once. */
function checkTypes() {
  const lines = ENTRIES.map((name, index) => `export * as e${index} from '${name}';`);
  // Those of ESM and those of CommonJS.
  const files = ['consumer.mts', 'consumer.cts'].map((name) => join(folder, name));
  for (const file of files) writeFileSync(file, lines.join('\n'));
  const { ESNext, Node16, NodeNext } = ts.ModuleKind;
  const { Bundler, ...resolution } = ts.ModuleResolutionKind;
  for (const [module, moduleResolution] of [
    [ESNext, resolution.Node10],
    [Node16, resolution.Node16],
    [NodeNext, resolution.NodeNext],
    [ESNext, Bundler],
  ]) {
    const program = ts.createProgram(files, {
      ...{ module, moduleResolution, target: ts.ScriptTarget.ES2022, types: [], noEmit: true },
      ...{ lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'] },
      ignoreDeprecations: '6.0', // of Node10, which reads the folders of the entries
      ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
    });
    const found = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
      const text = ts.flattenDiagnosticMessageText(messageText, '\n');
      return `${file ? relative(folder, file.fileName) : ''}: ${text}`;
    });
    fail(`does not compile under ${ts.ModuleResolutionKind[moduleResolution]}`, found);
  }
}

function checkLicenses(installed) {
  const text = read(installed, 'dist/LICENSES.txt');
  fail(
    'without its license',
    BUNDLED.filter(
      (name) =>
        !text.includes(
          `${name} ${read(ROOT, `node_modules/${name}/package.json`, JSON.parse).version} (`,
        ),
    ),
  );
}

/** Each entry exports what it does in plain Node. */
function checkLoads(load, names) {
  const expected = JSON.stringify(LOADERS['Node by import'](names));
  const found = JSON.stringify(load(names));
  if (found !== expected) throw new Error(`it finds ${found}, not ${expected}`);
}

function checkSourceMaps(installed) {
  const maps = filesOf(installed).filter((name) => name.endsWith('.map'));
  if (!maps.length) throw new Error('there is none');
  fail(
    'wrong sources',
    maps.flatMap((name) => sourceMapProblems(installed, name)),
  );
  const scripts = filesOf(installed).filter((name) => /\.c?js$/.test(name));
  fail(
    'a source map that is not there',
    scripts.filter((name) => !hasItsMap(installed, name)),
  );
}

function sourceMapProblems(installed, name) {
  const { sources, sourcesContent = [], sourceRoot = '' } = read(installed, name, JSON.parse);
  return sources.flatMap((source, index) => {
    const at = `${name}: ${source}`;
    if (/^([a-z]+:|[/\\])/i.test(sourceRoot + source)) return [`${at} is absolute`];
    const path = resolve(installed, dirname(name), sourceRoot, source);
    if (!path.startsWith(installed + sep)) return [`${at} is outside the package`];
    return typeof sourcesContent[index] === 'string' ? [] : [`${at} has no content`];
  });
}

function hasItsMap(installed, name) {
  const [, map] = /^\/\/# sourceMappingURL=(.+)$/m.exec(read(installed, name)) ?? [];
  return !map || existsSync(join(installed, dirname(name), map));
}

/** Exits by itself, and says nothing. */
function checkQuiet(args) {
  const output = run(process.execPath, args, { cwd: folder, timeout: EXITS_WITHIN_MS });
  if (output) throw new Error(`it prints:\n${output}`);
}

function filesOf(root) {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
}

function read(root, name, parse = (text) => text) {
  return parse(readFileSync(join(root, name), 'utf8'));
}

function fail(what, list) {
  if (list.length) throw new Error(`${what}:\n${list.join('\n')}`);
}

/** What the command prints; throws with it when the command fails or does not end. */
function run(command, args, options = {}) {
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    ...options,
  });
  const output = `${stdout ?? ''}${stderr ?? ''}`.trim();
  if (status === 0) return output;
  throw new Error(`${error?.message ?? signal ?? `exit code ${status}`}\n${output}`);
}
