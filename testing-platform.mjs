/** Gives `analytics-outbox/testing` a client of its own: the same modules, over the platform of `src/testing/platform`. */
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const pathOf = (path) => fileURLToPath(new URL(`src/${path}`, import.meta.url));
const CLIENT = pathOf('client/');
const TESTING = pathOf('testing/');
const PLATFORM = pathOf('testing/platform/');
const STAND_INS = new Map([
  [pathOf('client/page.ts'), `${PLATFORM}page.ts`],
  [pathOf('client/life.ts'), `${PLATFORM}life.ts`],
  [pathOf('client/outbox/database.ts'), `${PLATFORM}database.ts`],
]);
const TIMERS = JSON.stringify(`${PLATFORM}timers.ts`);

/**
 * A plugin for Rollup and Vite.
 * @param {string} [mark] ends the ids of the client's modules, where the same program has the real ones too
 */
export const testingPlatform = (mark = '') => ({
  name: 'testing-platform',
  enforce: 'pre',
  resolveId(source, importer = '') {
    const isInside =
      importer.startsWith(TESTING) || (importer.startsWith(CLIENT) && importer.endsWith(mark));
    if (!isInside || importer.startsWith(PLATFORM) || !source.startsWith('.')) return null;
    const file = resolve(dirname(importer), source).replace(/\.js$/, '.ts');
    return STAND_INS.get(file) ?? (file.startsWith(CLIENT) ? file + mark : null);
  },
  transform(code, id) {
    if (!id.startsWith(CLIENT) || !id.endsWith(mark) || !/\b(set|clear)Timeout\b/.test(code))
      return null;
    return { code: `import { setTimeout, clearTimeout } from ${TIMERS}; ${code}`, map: null };
  },
});
