/** Imports in `src` only go down. A file is of the most exact part that it stands in, and sees no other of its layer. */
import { readdirSync } from 'node:fs';
import { posix } from 'node:path';

const LAYERS = [
  // What the snippet, the relay and the service share.
  ['interface/'],
  ['client/types.ts'],
  // What the client sees of the page and its browser.
  ['client/page.ts', 'client/later.ts'],
  ...[['client/life.ts'], ['client/options.ts'], ['client/record.ts'], ['client/outbox/']],
  ...[['client/delivery/send/'], ['client/delivery/']],
  // The parts put together, and the facade in front of them.
  ['client/'],
  // What stands on the facade: the script tag, and what developers are told.
  ['client/tag.ts', 'dev/'],
  // What users set up beside the tracker; what other tools' calls stand on; a tracker for tests, of the same parts.
  ...[['capture/'], ['context/'], ['compat/browser/'], ['compat/'], ['testing/']],
  // What all parts of a relay share, and then these.
  ...[['relay/'], ['relay/queue/'], ['relay/delivery/'], ['relay/front/']],
  // The service stands behind the same admission as a relay, and writes files as its queue does.
  ...[['service/store/'], ['service/']],
  // A page that shows what the service has, over HTTP alone.
  ['service/rows/page/'],
  // What users import or load: none sees another.
  [''],
  // What users run: it stands on the entries, as a site's own server does.
  ['program/'],
];
/** Parts that are of the page by nature. All but these and the entries runs in a worker and in a test. */
const OF_THE_PAGE = [
  ...['client/page.ts', 'client/life.ts', 'client/tag.ts', 'dev/', 'capture/', 'context/'],
  ...['compat/browser/', 'service/rows/page/', ''],
];
const PAGE_GLOBALS = [
  ...['window', 'document', 'navigator', 'location', 'localStorage', 'sessionStorage'],
  'indexedDB',
];

const PARTS = LAYERS.flat().sort((a, b) => b.length - a.length);
const FILES = readdirSync('src', { recursive: true })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => /\.tsx?$/.test(name));

const partOf = (file) => PARTS.find((part) => (part ? file.startsWith(part) : !file.includes('/')));
/** A file in a folder that is in no layer is above all, so that whoever imports it is told. */
const layerOf = (file) => {
  const layer = LAYERS.findIndex((parts) => parts.includes(partOf(file)));
  return layer < 0 ? Infinity : layer;
};
const maySee = (from, to) =>
  layerOf(to) < layerOf(from) || (partOf(from) === partOf(to) && partOf(from) !== '');

/** The ways in which a file could name those that it may not see. */
const forbiddenTo = (from) => {
  const names = FILES.filter((to) => to !== from && !maySee(from, to))
    .map((to) => posix.relative(posix.dirname(from), to.replace(/\.tsx?$/, '')))
    .map((path) => (path.startsWith('.') ? path : `./${path}`).replaceAll('.', '\\.'));
  return `^(${names.join('|')})(\\.js)?$`;
};

const zoneOf = (from) => {
  const regex = forbiddenTo(from);
  const message = 'This file is above, beside, or in no layer: see eslint.layers.mjs.';
  const selectors = ['ImportExpression > Literal.source', 'TSImportType Literal'].map(
    (node) => `${node}[value=/${regex.replaceAll('/', '\\/')}/]`,
  );
  const isOfThePage = OF_THE_PAGE.includes(partOf(from));
  return {
    files: [`src/${from}`],
    rules: {
      'no-restricted-imports': ['error', { patterns: [{ regex, message }] }],
      'no-restricted-syntax': ['error', ...selectors.map((selector) => ({ selector, message }))],
      ...(!isOfThePage && {
        'no-restricted-globals': ['error', { globals: PAGE_GLOBALS, checkGlobalObject: true }],
      }),
    },
  };
};

export const layers = FILES.map(zoneOf);
