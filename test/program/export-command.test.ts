import { rmSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runExportCommand } from '../../src/program/export-command.js';
import { readPlaces } from '../../src/program/settings.js';
import { createFilesTarget } from '../../src/server/exports/files.js';
import { startExport } from '../../src/server/exports/export.js';
import { createTell } from '../../src/server/hooks.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { incomingEvent } from '../server/support/incoming.js';
import { tempFolder } from '../support/temp-folder.js';

const enter = async () => {
  const folder = tempFolder();
  const parts = join(folder, 'parts');
  const store = createLibsqlStore({ path: join(folder, 'rows.db') });
  onTestFinished(() => store.close());
  await store.write(Array.from({ length: 7 }, (_, n) => incomingEvent({ id: `${n}` })));
  const start = (wait = { ms: 0, rows: 1 }) => {
    const target = createFilesTarget(parts, wait);
    const stop = startExport({ store, target, tell: createTell({}) });
    onTestFinished(stop);
    return stop;
  };
  const name = `file:${parts}`;
  const run = async (...args: string[]) => {
    const printed: string[] = [];
    const print = (line: string) => void printed.push(line);
    const places = readPlaces({ DATABASE_URL: `file:${join(folder, 'rows.db')}`, EXPORT: name });
    const isFine = await runExportCommand(args, places, { print, say: print });
    return { isFine, printed };
  };
  const exported = async (place: number) =>
    vi.waitFor(async () => {
      expect((await store.progress.targets())[0]).toMatchObject({ place });
    });
  return { store, name, parts, start, run, exported };
};

it('lists targets, and says whether both sides have the same rows', async () => {
  const { name, parts, start, run, exported } = await enter();
  expect(await run('list')).toEqual({ isFine: true, printed: ['nothing was exported yet'] });
  const stop = start();
  await exported(7);
  await stop();
  expect((await run('list')).printed).toEqual([`${name}  place 7`]);
  expect(await run('verify')).toEqual({
    isFine: true,
    printed: [`${name}: 7 of 7 rows, from place 1 to 7`],
  });
  rmSync(join(parts, readdirSync(parts)[0]!));
  expect(await run('verify', name)).toEqual({
    isFine: false,
    printed: [
      `${name}: 0 of 7 rows, from place 1 to 7`,
      '  7 are missing: `export from` writes the files again',
    ],
  });
  expect((await run('from', '0')).printed).toEqual([`${name} goes on behind place 0`]);
  start();
  await exported(7);
  expect((await run('verify')).isFine).toBe(true);
});

it('counts the rows that wait, says why, and fails if the target has a problem', async () => {
  const { store, name, parts, start, run, exported } = await enter();
  writeFileSync(parts, 'a file in the place of the folder');
  const stopWrong = start();
  await vi.waitFor(async () => {
    expect((await store.progress.targets())[0]).toHaveProperty('message');
  });
  expect(await run('verify')).toEqual({
    isFine: false,
    printed: [`${name}: no rows to compare`, expect.stringMatching(/^  7 wait: .*exist/)],
  });
  await stopWrong();
  rmSync(parts);
  const stop = start({ ms: 300_000, rows: 100_000 }); // the first file is written at once
  await exported(7);
  await store.write([incomingEvent({ id: 'late' })]);
  expect(await run('verify')).toEqual({
    isFine: true,
    printed: [
      `${name}: 7 of 7 rows, from place 1 to 7`,
      '  1 wait: they are written 300 s after the first of them came, or as soon as there are 100000',
    ],
  });
  await stop();
  expect((await run('verify')).printed[1]).toBe('  1 wait: no program exports to it now');
});

it('names a new source for the rows', async () => {
  const { store, name, start, run, exported } = await enter();
  await start()();
  start();
  await exported(7);
  const source = await store.progress.source();
  const { printed } = await run('from', '3', '--new-source');
  const renamed = await store.progress.source();
  expect(printed).toEqual([
    `the rows have the source ${renamed.id} from now on`,
    `${name} goes on behind place 3`,
  ]);
  expect(renamed).toMatchObject({ since: 3, former: [source.id] });
});

it('forgets a target that no program exports to', async () => {
  const { name, start, run, exported } = await enter();
  const stop = start();
  await exported(7);
  await expect(run('forget', name)).rejects.toThrow(`a program exports to ${name} now`);
  await stop();
  expect((await run('forget', name)).printed).toEqual([`forgot ${name}`]);
  await expect(run('forget', name)).rejects.toThrow(`there is no target ${name}`);
});

it.each([
  [],
  ['verify', 'a', 'b'],
  ['from'],
  ['from', 'x'],
  ['forget'],
  ['list', '--new-source'],
  ['from', '1', 'a', '--new-source'],
])('says how it is used: %s', async (...args) => {
  const { run } = await enter();
  await expect(run(...args)).rejects.toThrow('usage: export list');
});

it('says that a target is none of EXPORT, or was never filled', async () => {
  const { name, run } = await enter();
  await expect(run('verify', 'other')).rejects.toThrow('EXPORT names no target other');
  await expect(run('verify', name)).rejects.toThrow('nothing was exported to');
});
