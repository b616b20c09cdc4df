/**
 * Bundles single imports the way an app's bundler would, for size-limit to measure. Run after the build,
 * by `npm run size`.
 */
import { fileURLToPath } from 'node:url';
import nodeResolve from '@rollup/plugin-node-resolve';
import terser from '@rollup/plugin-terser';
import { rollup } from 'rollup';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

const IMPORTS = [
  { name: 'createAnalytics', from: 'dist/index.js', to: '.tmp/import-create-analytics.js' },
  { name: 'createAnalytics', from: 'dist/relay-client.js', to: '.tmp/import-relay-client.js' },
  {
    name: 'combine, page, campaign, device, session',
    from: 'dist/context.js',
    to: '.tmp/import-context.js',
  },
  {
    name: 'combine, page, campaign, device, session, anonymousId, anonymousUser',
    from: 'dist/context.js',
    to: '.tmp/import-context-all.js',
  },
  { name: 'autocapture', from: 'dist/autocapture.js', to: '.tmp/import-autocapture.js' },
  { name: 'createRelay', from: 'dist/relay.js', to: '.tmp/import-create-relay.js' },
  { name: 'createSegment', from: 'dist/compat-segment.js', to: '.tmp/import-segment.js' },
  { name: 'takeOverSegment', from: 'dist/compat-segment.js', to: '.tmp/import-segment-stub.js' },
  {
    name: 'createLogSnag, takeOverLogSnag',
    from: 'dist/compat-logsnag.js',
    to: '.tmp/import-logsnag.js',
  },
  {
    name: 'createPostHog, takeOverPostHog',
    from: 'dist/compat-posthog.js',
    to: '.tmp/import-posthog.js',
  },
  {
    name: 'createPlausible, takeOverPlausible',
    from: 'dist/compat-plausible.js',
    to: '.tmp/import-plausible.js',
  },
  {
    name: 'createUmami, takeOverUmami',
    from: 'dist/compat-umami.js',
    to: '.tmp/import-umami.js',
  },
  {
    name: 'createGtag, takeOverGtag',
    from: 'dist/compat-gtag.js',
    to: '.tmp/import-gtag.js',
  },
];

for (const { name, from, to } of IMPORTS) {
  const entry = `\0import-${name}`;
  const app = {
    name: 'app',
    resolveId: (id) => (id === entry ? id : null),
    load: (id) => (id === entry ? `export { ${name} } from ${JSON.stringify(path(from))};` : null),
  };
  const bundle = await rollup({
    input: entry,
    plugins: [app, nodeResolve({ browser: true }), terser({ module: true, ecma: 2020 })],
    onLog(level, log) {
      // A dependency left out would make the measure a lie.
      if (level === 'warn') throw new Error(log.message);
    },
  });
  await bundle.write({ file: path(to), format: 'es' });
  await bundle.close();
}
