import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { createSnippetFiles } from '../../src/program/snippet-files.js';
import { tempFolder } from '../support/temp-folder.js';

const setUp = (maxAgeS = 0) => {
  const folder = tempFolder();
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('outbox.js', 'first');
  write('program.js', 'a program');
  const files = createSnippetFiles(pathToFileURL(`${folder}/`), maxAgeS);
  const get = (path: string, headers = {}) =>
    files(new Request(`http://localhost${path}`, { headers }));
  return { get, write };
};

it('lets any page load a file of the snippet', async () => {
  const answer = (await setUp(3_600).get('/outbox.js'))!;
  expect(await answer.text()).toBe('first');
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'cache-control': 'public, max-age=3600',
    'content-type': 'text/javascript; charset=utf-8',
  });
});

it('answers 304 as long as the file is the same', async () => {
  const { get, write } = setUp();
  const etag = (await get('/outbox.js'))!.headers.get('etag')!;
  expect((await get('/outbox.js', { 'if-none-match': etag }))!.status).toBe(304);
  write('outbox.js', 'second, longer');
  const changed = (await get('/outbox.js', { 'if-none-match': etag }))!;
  expect([changed.status, await changed.text()]).toEqual([200, 'second, longer']);
});

it.each(['/program.js', '/outbox.js/', '/../package.json', '/stub.js'])(
  'does not answer %s',
  async (path) => {
    expect(await setUp().get(path)).toBeUndefined();
  },
);
