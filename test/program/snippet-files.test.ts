import { writeFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
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

const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

it.each([
  ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
  ['br;q=0, GZIP', 'gzip', gunzipSync],
  ['gzip;q=0.5,br; q=0', 'gzip', gunzipSync],
])('sends a file compressed to a browser that takes %s', async (accepted, coding, unpack) => {
  const { get, write } = setUp();
  write('outbox.js', 'a text that repeats '.repeat(500));
  for (let n = 0; n < 2; n++) {
    const answer = (await get('/outbox.js', { 'accept-encoding': accepted }))!;
    expect(answer.headers.get('content-encoding')).toBe(coding);
    expect(answer.headers.get('vary')).toBe('Accept-Encoding');
    const bytes = await bytesOf(answer);
    expect(bytes.length).toBeLessThan(200);
    expect(unpack(bytes).toString()).toBe('a text that repeats '.repeat(500));
  }
  write('outbox.js', 'changed, and longer');
  const changed = (await get('/outbox.js', { 'accept-encoding': accepted }))!;
  expect(unpack(await bytesOf(changed)).toString()).toBe('changed, and longer');
});

it.each([{}, { 'accept-encoding': 'identity' }, { 'accept-encoding': 'brx, gzip;q=0' }])(
  'sends a file as it is to what asks with %j',
  async (headers) => {
    const answer = (await setUp().get('/outbox.js', headers))!;
    expect(answer.headers.get('content-encoding')).toBeNull();
    expect(answer.headers.get('vary')).toBe('Accept-Encoding');
    expect(await answer.text()).toBe('first');
  },
);

it('has a tag of its own for each form of a file, as caches need it', async () => {
  const { get } = setUp();
  const tags = ['br', 'gzip', 'identity'].map(async (coding) =>
    (await get('/outbox.js', { 'accept-encoding': coding }))!.headers.get('etag')!,
  );
  expect(new Set(await Promise.all(tags)).size).toBe(3);
});

it.each(['gzip, br', 'identity'])(
  'answers 304 to all forms of a tag that it knows, to what takes %s',
  async (coding) => {
    const { get } = setUp();
    const accepted = { 'accept-encoding': coding };
    const tag = (await get('/outbox.js', accepted))!.headers.get('etag')!;
    const statusOf = async (known: string) => {
      const answer = (await get('/outbox.js', { ...accepted, 'if-none-match': known }))!;
      expect(answer.headers.get('vary')).toBe('Accept-Encoding');
      expect(answer.headers.get('etag')).toBe(tag);
      return answer.status;
    };
    const ofProxy = tag.replace(/"$/, '-gzip"');
    const known = [tag, `W/${tag}`, '*', `"other", W/${tag}`, `"a,b",${tag} , "c"`, ofProxy];
    for (const one of known) expect([one, await statusOf(one)]).toEqual([one, 304]);
    for (const one of ['"other"', 'W/"other"', '"*"', '', tag.slice(1, -1)])
      expect([one, await statusOf(one)]).toEqual([one, 200]);
  },
);

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
