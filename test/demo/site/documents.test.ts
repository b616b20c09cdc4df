import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startDemo } from '../../../demo/site/start-demo';
import { tempFolder } from '../../support/temp-folder';

const ANY = { port: 0, nextFree: false };
const TITLE = /<title>[^{]+ – analytics-outbox<\/title>/;

const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found]) => found!);

it('the demo shows all documents, and each of their links leads to a document and a heading', async () => {
  const database = join(tempFolder(), 'demo.db');
  const demo = await startDemo({ page: ANY, service: ANY, database, token: 't' });
  onTestFinished(demo.close);
  const ids = new Map<string, string[]>();
  const links: string[] = [];
  const unseen = [`${demo.url}/README.md`];
  for (const url of unseen) {
    const answer = await fetch(url);
    expect(answer.status, url).toBe(200);
    const html = await answer.text();
    if (!answer.headers.get('content-type')?.startsWith('text/html')) continue;
    expect(html, url).toMatch(TITLE);
    ids.set(url, all(html, /\sid="([^"]+)"/g));
    const [, main = ''] = html.split('<main');
    for (const href of all(main, /<a\s[^>]*?href="([^"]+)"/g)) {
      const link = new URL(href.replaceAll('&amp;', '&'), url).href;
      if (!link.startsWith(`${demo.url}/`)) continue;
      links.push(link);
      const document = link.replace(/#.*/, '');
      if (!unseen.includes(document)) unseen.push(document);
    }
  }
  expect(ids.size).toBeGreaterThan(20);
  const broken = links.filter((link) => {
    const [document = '', heading] = link.split('#');
    return heading && !ids.get(document)?.includes(decodeURIComponent(heading));
  });
  expect(broken).toEqual([]);
});
