/**
 * Bundles `import { createAnalytics }` the way an app's bundler would, for size-limit to measure.
 * Run after the build, by `npm run size`.
 */
import { fileURLToPath } from 'node:url';
import nodeResolve from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import { rollup } from 'rollup';

const ENTRY = '\0import-create-analytics';
const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

const app = {
  name: 'app',
  resolveId: (id) => (id === ENTRY ? id : null),
  load: (id) =>
    id === ENTRY
      ? `export { createAnalytics } from ${JSON.stringify(path('dist/index.js'))};`
      : null,
};

const bundle = await rollup({
  input: ENTRY,
  plugins: [app, nodeResolve({ browser: true }), terser({ module: true, ecma: 2020 })],
  onLog(level, log) {
    // A dependency left out would make the measure a lie.
    if (level === 'warn') throw new Error(log.message);
  },
});
await bundle.write({ file: path('.tmp/import-create-analytics.js'), format: 'es' });
await bundle.close();
