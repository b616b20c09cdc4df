import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startExport } from '../../../src/server/exports/export.js';
import { createFilesTarget } from '../../../src/server/exports/files.js';
import { verify } from '../../../src/server/exports/verify.js';
import { createTell } from '../../../src/server/hooks.js';
import type { Row } from '../../../src/server/store/port.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { tempFolder } from '../../support/temp-folder.js';
import { incomingEvents } from '../support/incoming.js';

const enter = () => {
  const folder = join(tempFolder(), 'parts');
  const store = createLibsqlStore({ path: join(tempFolder(), 'rows.db') });
  onTestFinished(() => store.close());
  const target = createFilesTarget(folder, { ms: 0, rows: 10 });
  const errors: string[] = [];
  const run = () => {
    const tell = createTell({ onError: ({ message }) => void errors.push(message) });
    const stop = startExport({ store, target, tell });
    onTestFinished(stop);
    return stop;
  };
  let written = 0;
  const write = async (count: number) => {
    await store.write(incomingEvents(written, written + count));
    written += count;
  };
  const parts = () =>
    readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .sort();
  const rows = (name: string) =>
    gunzipSync(readFileSync(join(folder, name)))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
  return { folder, store, target, errors, run, write, parts, rows };
};

it('has the rows as they are read, in parts that are named by their first place', async () => {
  const { folder, store, run, write, parts, rows } = enter();
  await write(30);
  run();
  await vi.waitFor(() => expect(parts()).toEqual(['rows-000000000000001.ndjson.gz']));
  await write(5);
  await vi.waitFor(() => expect(parts()).toHaveLength(2));
  const rights = [folder, join(folder, parts()[0]!)].map((path) => statSync(path).mode & 0o777);
  expect(rights).toEqual([0o700, 0o600]); // they hold what people did
  expect(parts()[1]).toBe('rows-000000000000031.ndjson.gz');
  expect(parts().flatMap(rows)).toEqual(await store.rows({}, { limit: 100 }));
});

it('replaces a part whose place was not kept, and removes one that was only begun', async () => {
  const { folder, store, target, run, write, parts, rows } = enter();
  await write(5);
  const stop = run();
  await vi.waitFor(async () => {
    expect((await store.progress.targets())[0]).toMatchObject({ place: 5 });
  });
  await stop();
  await store.progress.moveTo(target.name, 0);
  writeFileSync(join(folder, '.rows-000000000000001.ndjson.gz.7'), 'half');
  await write(5);
  run();
  await vi.waitFor(() => expect(rows(parts().at(-1)!)).toHaveLength(10));
  expect(parts()).toEqual(['rows-000000000000001.ndjson.gz']);
});

it('is compared with the store, and says what is missing', async () => {
  const { folder, store, target, run, write, parts } = enter();
  await write(8);
  const stop = run();
  await vi.waitFor(() => expect(parts()).toHaveLength(1));
  await write(4);
  await vi.waitFor(() => expect(parts()).toHaveLength(2));
  await vi.waitFor(async () => {
    expect((await store.progress.targets())[0]).toMatchObject({ place: 12 });
  });
  await stop();
  const found = { from: 1, to: 13, stored: 12, exported: 12, missing: 0 };
  expect(await verify({ store, target })).toMatchObject(found);
  const last = join(folder, parts()[1]!);
  writeFileSync(last, '');
  await expect(verify({ store, target })).rejects.toThrow(`${last} cannot be read`);
  rmSync(last);
  expect(await verify({ store, target })).toMatchObject({ ...found, exported: 8, missing: 4 });
});

it('says in words that it cannot write', async () => {
  const { folder, errors, run } = enter();
  writeFileSync(folder, 'a file of this name');
  run();
  await vi.waitFor(() => expect(errors.join()).toMatch(/EEXIST.*parts/));
});

it('rejects if its folder is gone or its disk is full, and ends no process', async () => {
  const { folder, target } = enter();
  const row = { seq: 1, id: 'a' } as Row;
  const turn = {
    ...{ source: 's', number: 1, from: 0, mayWrite: async () => {}, bury: async () => {} },
    pages: (async function* () {
      for (let n = 0; n < 100; n++) yield [row];
    })(),
    signal: new AbortController().signal,
  };
  await expect(target.fill(turn)).rejects.toThrow(/ENOENT/);
  expect(() => readdirSync(folder)).toThrow();
});

it('leaves no row twice when it is written again with other ends', async () => {
  const { store, target, run, write, parts, rows } = enter();
  await write(4);
  let stop = run();
  await vi.waitFor(() => expect(parts()).toHaveLength(1));
  await write(4);
  await vi.waitFor(() => expect(parts()).toHaveLength(2));
  await stop();
  await store.progress.moveTo(target.name, 0);
  stop = run();
  await vi.waitFor(() => expect(parts()).toHaveLength(1));
  expect(
    parts()
      .flatMap(rows)
      .map(({ seq }) => seq),
  ).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  await stop();
});

it('says where rows of erased users may still be, unless it has no rows from before the erasure', async () => {
  const { folder, store, errors, run, write, parts, rows } = enter();
  const passedOn = () =>
    vi.waitFor(async () => {
      const [target] = await store.progress.targets();
      expect(target!.erased).toBe(await store.progress.lastErasure());
    });
  await write(5);
  await store.erase({ project: 'p', user_id: 'u' });
  let stop = run();
  await passedOn();
  await write(5);
  await vi.waitFor(() => expect(parts().flatMap(rows)).toHaveLength(10));
  await stop();
  expect(errors).toEqual([]);
  await store.erase({ project: 'p', user_id: 'other' });
  stop = run();
  await passedOn();
  await stop();
  expect(errors).toEqual([expect.stringContaining(`may still be in the files of ${folder}`)]);
});
