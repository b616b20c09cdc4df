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
/** Markdown as it is: a browser would not show it under its own type. */
const TEXT = 'text/plain; charset=utf-8';

const docs = readdirSync(new URL('../../docs', import.meta.url))
  .filter((name) => name.endsWith('.md'))
  .map((name) => [`/docs/${name}`, { from: `../../docs/${name}`, type: TEXT }]);

/** All there is: nothing else of the project can be asked for. */
export const FILES: Readonly<Record<string, DemoFile | undefined>> = Object.assign(
  Object.create(null) as object,
  {
    '/': { from: '../page/index.html', type: HTML },
    '/relay': { from: '../page/index.html', type: HTML },
    '/relay/away': { from: '../page/away.html', type: HTML },
    '/away': { from: '../page/away.html', type: HTML },
    '/style.css': { from: '../page/style.css', type: 'text/css; charset=utf-8' },
    '/icon.svg': { from: '../page/icon.svg', type: 'image/svg+xml' },
    '/page.js': { from: '../dist/page.js', type: SCRIPT },
    '/page.js.map': { from: '../dist/page.js.map', type: JSON_TYPE },
    '/outbox.js': { from: '../../dist/outbox.js', type: SCRIPT },
    '/outbox.js.map': { from: '../../dist/outbox.js.map', type: JSON_TYPE },
    '/outbox-dev.js': { from: '../../dist/outbox-dev.js', type: SCRIPT },
    '/outbox-dev.js.map': { from: '../../dist/outbox-dev.js.map', type: JSON_TYPE },
    '/outbox-relay.js': { from: '../../dist/outbox-relay.js', type: SCRIPT },
    '/outbox-relay.js.map': { from: '../../dist/outbox-relay.js.map', type: JSON_TYPE },
    '/stub.js': { from: '../../dist/stub.js', type: SCRIPT },
    '/README.md': { from: '../../README.md', type: TEXT },
    ...(Object.fromEntries(docs) as Record<string, DemoFile>),
  },
);

/** Read anew each time, so that a rebuild shows without a restart. */
export const readDemoFile = ({ from }: DemoFile): Promise<string> =>
  readFile(new URL(from, import.meta.url), 'utf8');
