import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

export interface DemoFile {
  /** Seen from this file and from the built one alike. */
  from: string;
  type: string;
}

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const JSON_TYPE = 'application/json';
const SVG = 'image/svg+xml';
const TEXT = 'text/plain; charset=utf-8';
/** Shown as HTML. */
export const MARKDOWN = 'text/markdown';

const filesIn = (folder: string, extension: string, type: string) =>
  Object.fromEntries(
    readdirSync(new URL(`../../${folder}`, import.meta.url))
      .filter((name) => name.endsWith(extension))
      .map((name) => [`/${folder}/${name}`, { from: `../../${folder}/${name}`, type }]),
  );

/** All there is: nothing else of the project can be asked for. */
export const FILES: Readonly<Record<string, DemoFile | undefined>> = Object.assign(
  Object.create(null) as object,
  {
    '/': { from: '../page/index.html', type: HTML },
    '/relay': { from: '../page/index.html', type: HTML },
    '/relay/away': { from: '../page/away.html', type: HTML },
    '/away': { from: '../page/away.html', type: HTML },
    '/style.css': { from: '../page/style.css', type: 'text/css; charset=utf-8' },
    '/icon.svg': { from: '../page/icon.svg', type: SVG },
    '/page.js': { from: '../dist/page.js', type: SCRIPT },
    '/page.js.map': { from: '../dist/page.js.map', type: JSON_TYPE },
    '/outbox.js': { from: '../../dist/outbox.js', type: SCRIPT },
    '/outbox.js.map': { from: '../../dist/outbox.js.map', type: JSON_TYPE },
    '/outbox-dev.js': { from: '../../dist/outbox-dev.js', type: SCRIPT },
    '/outbox-dev.js.map': { from: '../../dist/outbox-dev.js.map', type: JSON_TYPE },
    '/outbox-inspector.js': { from: '../../dist/outbox-inspector.js', type: SCRIPT },
    '/outbox-inspector.js.map': { from: '../../dist/outbox-inspector.js.map', type: JSON_TYPE },
    '/outbox-relay.js': { from: '../../dist/outbox-relay.js', type: SCRIPT },
    '/outbox-relay.js.map': { from: '../../dist/outbox-relay.js.map', type: JSON_TYPE },
    '/stub.js': { from: '../../dist/stub.js', type: SCRIPT },
    '/README.md': { from: '../../README.md', type: MARKDOWN },
    '/CHANGELOG.md': { from: '../../CHANGELOG.md', type: MARKDOWN },
    '/LICENSE': { from: '../../LICENSE', type: TEXT },
    ...filesIn('docs', '.md', MARKDOWN),
    ...filesIn('docs/fleet', '.svg', SVG),
  },
);

/** The page around a document. */
export const DOCUMENT_PAGE: DemoFile = { from: '../page/document.html', type: HTML };

/** Read anew each time, so that a rebuild shows without a restart. */
export const readDemoFile = ({ from }: DemoFile): Promise<string> =>
  readFile(new URL(from, import.meta.url), 'utf8');
