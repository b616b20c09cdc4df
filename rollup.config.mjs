import typescript from '@rollup/plugin-typescript';
import terser from '@rollup/plugin-terser';
import nodeResolve from '@rollup/plugin-node-resolve';
import dts from 'rollup-plugin-dts';

// One instance an entry: the plugin keeps state between the files it emits.
const ts = () =>
  typescript({
    noEmit: false,
    noEmitOnError: true,
    rootDir: '.',
    include: ['src/**/*.ts', 'demo/**/*.ts'],
    compilerOptions: { sourceMap: true, inlineSources: true },
  });
// `browser: true`, or nanoid's Node build is bundled.
const resolve = () => nodeResolve({ browser: true });
// No `mangle.toplevel`: it would rename the global of the script-tag build.
const minify = () =>
  terser({ ecma: 2020, compress: { passes: 3, unsafe_arrows: true }, format: { comments: false } });

const output = (file, format) => ({ file, format, sourcemap: true });

export default [
  {
    input: 'src/script.ts',
    output: output('dist/analytics.js', 'iife'),
    plugins: [resolve(), ts(), minify()],
  },
  {
    input: 'src/stub.ts',
    output: { file: 'dist/stub.js', format: 'iife' },
    plugins: [ts(), minify()],
  },
  {
    input: 'src/index.ts',
    external: ['nanoid', 'idb-keyval'],
    output: [output('dist/index.js', 'es'), output('dist/index.cjs', 'cjs')],
    plugins: [ts()],
  },
  {
    input: 'src/index.ts',
    external: ['nanoid', 'idb-keyval'],
    output: [
      { file: 'dist/index.d.ts', format: 'es' },
      { file: 'dist/index.d.cts', format: 'es' },
    ],
    plugins: [dts()],
  },
  {
    input: 'src/relay.ts',
    output: [output('dist/relay.js', 'es'), output('dist/relay.cjs', 'cjs')],
    plugins: [ts()],
  },
  {
    input: 'src/relay.ts',
    output: [
      { file: 'dist/relay.d.ts', format: 'es' },
      { file: 'dist/relay.d.cts', format: 'es' },
    ],
    plugins: [dts()],
  },
  {
    input: 'demo/server/main.ts',
    external: [/^node:/, 'hono', /^hono\//, '@hono/node-server', /^@hono\/node-server/, 'libsql'],
    output: output('demo/dist/service.js', 'es'),
    plugins: [nodeResolve(), ts()],
  },
  {
    input: 'demo/site/main.ts',
    external: [/^node:/, 'hono', /^hono\//, '@hono/node-server', /^@hono\/node-server/, 'libsql'],
    output: output('demo/dist/demo.js', 'es'),
    plugins: [nodeResolve(), ts()],
  },
  {
    input: 'demo/page/main.ts',
    output: output('demo/dist/page.js', 'iife'),
    plugins: [resolve(), ts(), minify()],
  },
];
