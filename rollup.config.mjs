import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import typescript from '@rollup/plugin-typescript';
import terser from '@rollup/plugin-terser';
import nodeResolve from '@rollup/plugin-node-resolve';
import dts from 'rollup-plugin-dts';
import { minifySync } from 'oxc-minify';
import { BUNDLED, INTERNAL, NEXT } from './rollup.names.mjs';
import { testingPlatform } from './testing-platform.mjs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
/** In the place of `dist`, which `scripts/build.mjs` puts there in the end. */
const DIST = `dist${NEXT}`;

/**
 * Compiles all sources for the first entry, and has them at hand for the others. Checks no types, which
 * `npm run build` does beside it.
 */
const compiler = (target, include) => {
  const plugin = typescript({
    tsconfig: 'tsconfig.build.json',
    noEmit: false,
    noEmitOnError: true,
    rootDir: '.',
    include,
    compilerOptions: { sourceMap: true, inlineSources: true, target },
  });
  let hasCompiled = false;
  return {
    ...plugin,
    buildStart(options) {
      if (hasCompiled && !this.meta.watchMode) return;
      hasCompiled = true;
      plugin.buildStart.call(this, options);
    },
    // It would warn of each output that wants no source map.
    renderStart: undefined,
  };
};
const ts = compiler('ES2022', ['src/**/*.{ts,tsx}', 'demo/**/*.{ts,tsx}']);
/** Bundles what `rollup.names.mjs` names. `browser: true`: nanoid's browser build runs everywhere. */
const resolve = () => nodeResolve({ browser: true, resolveOnly: BUNDLED });
// No `mangle.toplevel`: it would rename the global of the script-tag build.
const minify = (ecma = 2020, mangle = {}) =>
  terser({
    ecma,
    mangle,
    // No function with a body in the place of its one call (`inline: 1`), and no third pass: the text would be shorter, and
    // its compressed form longer. No getter that the code reads does anything but give a value, and no sum depends on
    // the order in which it is made (`unsafe_math`).
    compress: {
      unsafe: true,
      unsafe_arrows: true,
      unsafe_math: true,
      inline: 1,
      passes: 2,
      hoist_funs: true,
      pure_getters: true,
    },
    format: { comments: false },
  });

const script = (file) => ({ file, format: 'iife', sourcemap: true });

/**
 * Chromium compiles a script that begins with this line as it streams in, and not on the main thread. Other
 * engines take it for a comment (https://v8.dev/blog/explicit-compile-hints).
 * It is for the tags only, which use most of their functions at once.
 */
const COMPILE_HINT = '//# allFunctionsCalledOnLoad\n';

/** A second minifier, which finds what the first one leaves. It knows no names of members to shorten. */
const minifyMore = (firstLine = '') => ({
  name: 'minify-more',
  renderChunk: (text, { fileName }) => {
    const { code, map } = minifySync(fileName, text, {
      compress: { target: 'es2020' },
      mangle: false,
      sourcemap: true,
    });
    const mappings = (firstLine && ';') + map.mappings;
    return { code: firstLine + code, map: { ...map, mappings } };
  },
});

/** The names of what stays inside of a script are a fiftieth of it. */
const SHORTENED = {
  properties: { builtins: true, regex: new RegExp(`^(${INTERNAL.join('|')})$`) },
};

/** Leaves packages out of a source map: they are minified already, or of a few lines. */
const ownSources = {
  name: 'own-sources',
  transform: (code, id) => (id.includes('node_modules') ? { code, map: { mappings: '' } } : null),
};

/** A script for a tag. */
const tag = (input, file) => ({
  input,
  output: script(file),
  plugins: [ownSources, resolve(), ts, minify(2020, SHORTENED), minifyMore(COMPILE_HINT)],
});

const inputs = (names) => Object.fromEntries(names.map((name) => [name, `src/${name}.ts`]));
const external = [/^node:/, /^hono/, /^libsql/, 'pg', 'undici'];
const shape = (shared, format, extension) => ({
  dir: DIST,
  format,
  entryFileNames: `[name]${extension}`,
  chunkFileNames: `${shared}-[hash]${extension}`,
  hoistTransitiveImports: false,
});
const EXTENSIONS = { es: '.js', cjs: '.cjs' };

/**
 * Entries to import or require. What they share is in files beside them. They hold nanoid and idb-keyval: Jest cannot
 * require the first, which is ESM only, and a page with an import map has to name no file but the entry. They are as
 * readable as their sources, so they need no source maps, which would be twice as large as they are.
 */
const code = ({ shared, names, formats = ['es', 'cjs'], plugins = [] }) => ({
  input: inputs(names),
  external,
  output: formats.map((format) => shape(shared, format, EXTENSIONS[format])),
  plugins: [...plugins, resolve(), ts],
  treeshake: { moduleSideEffects: false },
});

const typesOf = (...names) => ({
  input: inputs(names),
  external,
  output: [shape('types', 'es', '.d.ts'), shape('types', 'es', '.d.cts')],
  plugins: [dts()],
});

/**
 * A program stands on the entries, as a site's own server would. Nobody imports it, so it is as small as its names of
 * functions, which errors show, allow.
 */
const program = (input, file) => ({
  input,
  external: [/^node:/, 'libsql', '@hono/node-server', 'prom-client', ENTRY],
  output: {
    file,
    format: 'es',
    banner: '#!/usr/bin/env node',
    inlineDynamicImports: true,
    paths: (id) => id.replace(/^.*\/((relay|service)(-\w+)?\.js)$/, './$1'),
  },
  plugins: [
    ts,
    terser({ compress: false, mangle: { keep_fnames: true }, format: { comments: false } }),
  ],
});
/** An entry of the package, as the programs import it. */
const ENTRY = /^\.\.\/(relay|service)(-\w+)?\.js$/;

/** What the demo's servers take from `node_modules`. */
const SERVER = [
  ...[/^node:/, /^hono/, /^@hono\/node-server/],
  ...[/^libsql/, 'pg', 'undici', 'prom-client'],
];

/** The files of a page that stand beside its script. */
const pageFiles = (...paths) => ({
  name: 'page-files',
  generateBundle() {
    for (const path of paths) {
      this.addWatchFile(path);
      const source = readFileSync(path, 'utf8').replace('{{version}}', version);
      this.emitFile({ type: 'asset', fileName: basename(path), source });
    }
  },
});

const CLIENT = ['index', 'relay-client', 'context'];
const COMPAT = ['segment', 'logsnag', 'posthog', 'plausible', 'umami', 'gtag'].map(
  (tool) => `compat-${tool}`,
);
const SERVERS = [...['relay', 'relay-node'], ...['service', 'service-libsql', 'service-postgres']];

/** Tokens of style that pages share, as far as a style uses them. */
const tokensFor = (style) => {
  const [, tokens] = /:root \{([^}]*)\}/.exec(readFileSync('src/show/show.css', 'utf8'));
  return tokens.replace(/\s*(--[\w-]+):[^;]*;/g, (token, name) =>
    style.includes(`var(${name})`) ? token : '',
  );
};

/**
 * The inspector says which version it is of. Its style has the tokens that it uses, and no spaces that only people need.
 */
const inspectorTexts = {
  name: 'inspector-texts',
  transform: (code, id) => {
    const map = null;
    if (id.endsWith('/dev/inspector/version.ts'))
      return { code: code.replace('{{version}}', version), map };
    if (!id.endsWith('/dev/inspector/style.ts')) return undefined;
    return {
      code: code
        .replace('{{tokens}}', tokensFor(code))
        .replace(/\n\s*/g, '')
        .replace(/([:;,{]) | (?=[{!])/g, '$1')
        .replace(/;}/g, '}'),
      map,
    };
  },
};

/** The scripts for tags, and what they load. */
const tags = [
  tag('src/script.ts', `${DIST}/outbox.js`),
  tag('src/script-relay.ts', `${DIST}/outbox-relay.js`),
  tag('src/script-auto.ts', `${DIST}/outbox-auto.js`),
  {
    // What a tag loads for developers, and never for visitors.
    input: 'src/script-dev.ts',
    output: { file: `${DIST}/outbox-dev.js`, format: 'es' },
    plugins: [resolve(), ts, minify(), minifyMore()],
  },
  {
    // What that one loads when a developer opens the inspector.
    input: 'src/inspector.ts',
    output: { file: `${DIST}/outbox-inspector.js`, format: 'es' },
    plugins: [inspectorTexts, resolve(), ts, minify()],
    treeshake: { moduleSideEffects: false },
  },
  {
    input: 'src/stub.ts',
    // No wrapper of its own: the stub is one function already.
    output: { file: `${DIST}/stub.js`, format: 'es' },
    plugins: [compiler('ES2015', ['src/stub.ts']), minify(2015)],
  },
];

/** The pages with their servers: the demo, and the service's own. */
const pages = [
  {
    // The page of the service that shows its rows.
    input: 'src/server/rows/page/main.tsx',
    output: { dir: `${DIST}/rows`, entryFileNames: 'rows.js', format: 'iife' },
    plugins: [
      resolve(),
      ts,
      minify(),
      pageFiles(
        'src/server/rows/page/index.html',
        'src/server/rows/page/rows.css',
        'src/show/show.css',
      ),
    ],
  },
  {
    input: 'demo/site/main.ts',
    external: [...SERVER, /^marked/],
    output: {
      file: `demo/${DIST}/demo.js`,
      format: 'es',
      sourcemap: true,
      inlineDynamicImports: true,
    },
    plugins: [nodeResolve(), ts],
  },
  {
    input: 'demo/page/main.tsx',
    output: script(`demo/${DIST}/page.js`),
    plugins: [resolve(), ts, minify()],
  },
  {
    input: 'demo/page/tab.ts',
    output: script(`demo/${DIST}/tab.js`),
    plugins: [ts, minify()],
  },
];

/** What else the package has, and the demo's service alone. */
const entries = [
  // What developers import has the types of what it stands in for, and cannot be required.
  code({
    shared: 'client-shared',
    names: [...CLIENT, 'index-dev', 'relay-client-dev', 'inspector'],
    formats: ['es'],
    plugins: [inspectorTexts],
  }),
  code({
    shared: 'client-shared',
    names: [...CLIENT, 'inspector'],
    formats: ['cjs'],
    plugins: [inspectorTexts],
  }),
  code({ shared: 'testing-shared', names: ['testing'], plugins: [testingPlatform()] }),
  // Each whole in a file of its own: a page without a bundler loads it as a module.
  ...COMPAT.map((name) => code({ shared: 'compat-shared', names: [name] })),
  code({ shared: 'capture-shared', names: ['autocapture', 'autocapture-dev'], formats: ['es'] }),
  code({ shared: 'capture-shared', names: ['autocapture'], formats: ['cjs'] }),
  code({ shared: 'relay-shared', names: SERVERS }),
  program('src/program/main.ts', `${DIST}/program.js`),
  {
    input: 'demo/server/main.ts',
    external: SERVER,
    output: {
      file: `demo/${DIST}/service.js`,
      format: 'es',
      sourcemap: true,
      inlineDynamicImports: true,
    },
    plugins: [nodeResolve(), ts],
  },
];

/** In one go, since to read the sources is most of the work. */
const types = [typesOf(...CLIENT, 'inspector', 'testing', ...COMPAT, 'autocapture', ...SERVERS)];

const PARTS = { tags, pages, entries, types };

/** `--configPart tags,pages` builds some of the parts, so that several processes can share the work. */
export default ({ configPart = Object.keys(PARTS).join() }) =>
  configPart.split(',').flatMap((part) => PARTS[part]);
