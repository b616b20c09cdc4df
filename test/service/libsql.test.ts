import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createLibsqlStore } from '../../src/service-libsql.js';
import type { Incoming, NewRefused } from '../../src/service/store/port.js';
import { tempFolder } from '../support/temp-folder.js';
import { incomingEvent, incomingIdentify } from './support/incoming.js';

const open = (path = join(tempFolder(), 'new', 'service.db')) => {
  const replaced: number[] = [];
  const store = createLibsqlStore({ path, onReplaced: (records) => replaced.push(records) });
  onTestFinished(() => store.close());
  return { store, path, replaced };
};
/** A second connection to the file, as another process has one. */
const connect = (path: string) => {
  const database = new Database(path);
  onTestFinished(() => void database.close());
  return database;
};
const all = { limit: 1_000 };
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

it('makes the file with its folder on first use, and finds the records again', async () => {
  const { store, path } = open();
  await store.write([incomingEvent({ id: 'a' })]);
  await store.close();
  expect(existsSync(path)).toBe(true);
  expect(idsOf(await open(path).store.rows({}, all))).toEqual(['a']);
});

it('refuses in words a file that a newer version has written', () => {
  const { path } = open();
  connect(path).exec('PRAGMA user_version = 2');
  expect(() => createLibsqlStore({ path })).toThrow(
    /holds data of version 2.*run the program that has written it/,
  );
});

it('keeps a record that the file refuses as a dead letter, with its words, and stores the others', async () => {
  const { store, path } = open();
  connect(path).exec(`CREATE TRIGGER picky BEFORE INSERT ON rows WHEN new.event = 'bad'
    BEGIN SELECT RAISE(ABORT, 'not this one'); END`);
  const records = ['a', 'bad', 'c'].map((name) => incomingEvent({ id: name }, { event: name }));
  expect(await store.write(records)).toEqual([
    { outcome: 'stored' },
    { outcome: 'dead', message: 'not this one' },
    { outcome: 'stored' },
  ]);
  expect(idsOf(await store.rows({}, all))).toEqual(['a', 'c']);
  const [dead] = await store.refused(all);
  expect(dead).toMatchObject({
    ...{ reason: 'database', message: 'not this one', status: 422, id: 'bad', isDead: true },
    ...{ type: 'event', project: 'p', body: JSON.stringify(records[1]!.body) },
  });
  expect(await store.resend([dead!.seq, 99])).toEqual([
    { seq: dead!.seq, outcome: 'dead', message: 'not this one' },
  ]);
  connect(path).exec('DROP TRIGGER picky');
  expect(await store.resend([dead!.seq])).toEqual([{ seq: dead!.seq, outcome: 'stored' }]);
  expect(await store.refused(all)).toEqual([]);
  expect(idsOf(await store.rows({}, all))).toEqual(['a', 'c', 'bad']);
});

it('undoes an identify whose profile is refused', async () => {
  const { store, path } = open();
  connect(path).exec(`CREATE TRIGGER picky BEFORE INSERT ON profiles
    BEGIN SELECT RAISE(ABORT, 'no profiles'); END`);
  const [written] = await store.write([incomingIdentify()]);
  expect(written).toEqual({ outcome: 'dead', message: 'no profiles' });
  expect(await store.rows({}, all)).toEqual([]);
});

it('says in words that another process has locked the file, and goes on after that', async () => {
  const { store, path } = open();
  const other = connect(path);
  other.exec('BEGIN IMMEDIATE');
  const time = vi.spyOn(performance, 'now');
  onTestFinished(() => time.mockRestore());
  const write = store.write([incomingEvent()]);
  time.mockReturnValue(performance.now() + 10_000);
  await expect(write).rejects.toThrow(`another process has locked ${path}`);
  time.mockRestore();
  other.exec('ROLLBACK');
  expect(await store.write([incomingEvent()])).toEqual([{ outcome: 'stored' }]);
});

it.each([
  ['SQLITE_FULL', 'the disk is full'],
  ['SQLITE_READONLY', 'may not be written to'],
])('says what %s means, stores nothing, and goes on when it is over', async (code, words) => {
  const { store } = open();
  const exec = vi.spyOn(Database.prototype, 'exec').mockImplementationOnce(() => {
    throw Object.assign(new Error(code), { code });
  });
  onTestFinished(() => exec.mockRestore());
  await expect(store.write([incomingEvent()])).rejects.toThrow(words);
  expect(await store.write([incomingEvent()])).toEqual([{ outcome: 'stored' }]);
});

it('fails where its file was moved away', async () => {
  const { store, path } = open();
  renameSync(path, `${path}.old`);
  await expect(store.write([incomingEvent()])).rejects.toThrow(`${path} was deleted or replaced`);
});

it('tells those who follow of its own writes and of those of another process', async () => {
  const { store, path } = open();
  const other = open(path).store;
  const told = vi.fn();
  const stop = store.follow(told);
  await store.write([incomingEvent()]);
  await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1));
  await other.write([incomingEvent({ id: 'b' })]);
  await vi.waitFor(() => expect(told.mock.calls.length).toBeGreaterThan(1), { timeout: 5_000 });
  stop();
  const before = told.mock.calls.length;
  await store.write([incomingEvent({ id: 'c' })]);
  await new Promise(setImmediate);
  expect(told).toHaveBeenCalledTimes(before);
});

it('keeps the newest of what was refused', async () => {
  const { store } = open();
  const one = (body: string): NewRefused => ({
    ...{ received_at: new Date().toISOString(), reason: 'field', status: 400, message: 'm', body },
  });
  await store.refuse(Array.from({ length: 1_005 }, (_, n) => one(String(n))));
  const [oldest] = await store.refused({ limit: 1 });
  const [newest] = await store.refused({ limit: 1, newest: true });
  expect([oldest!.body, newest!.body]).toEqual(['5', '1004']);
  const large = incomingEvent({}, { tags: { large: 'x'.repeat(1_000_000) } });
  await store.refuse(Array.from({ length: 70 }, () => ({ ...one('large'), record: large })));
  const left = (await store.refused({ limit: 2_000 })).filter(({ isDead }) => isDead);
  expect(left.length).toBe(67);
  expect((await store.refused({ limit: 2_000 })).length).toBe(1_067);
});

it('finds text whatever its case and script', async () => {
  const { store } = open();
  const names = Array.from({ length: 1_500 }, (_, n) => `e${n}`);
  names[3] = 'Übergröße "XL"';
  names[1_400] = 'ÜBERGRÖßE "xl"';
  await store.write(names.map((event, n): Incoming => incomingEvent({ id: `r${n}` }, { event })));
  const find = async (text: string, span = {}) =>
    (await store.rows({ text }, { ...all, ...span })).map(({ seq }) => seq);
  expect(await find('übergröße')).toEqual([4, 1_401]);
  expect(await find('übergröße', { newest: true, limit: 1 })).toEqual([1_401]);
  expect(await find('übergröße', { after: 4 })).toEqual([1_401]);
  expect(await find('"xL"')).toEqual([4, 1_401]);
  expect(await find('*')).toEqual([]);
  expect(await find('[a-z]')).toEqual([]);
});

it('looks through many rows in steps, and lets others have their turn', async () => {
  const { store } = open();
  const names = Array.from({ length: 12_001 }, (_, n) => (n % 6_000 ? 'other' : 'rare'));
  await store.write(names.map((event, n) => incomingEvent({ id: `r${n}` }, { event })));
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const find = async (span: object) =>
    (await store.rows({ event: ['rare'] }, { ...all, ...span })).map(({ seq }) => seq);
  expect(await find({})).toEqual([1, 6_001, 12_001]);
  expect(turns).toBeGreaterThanOrEqual(2);
  isOver = true;
  expect(await find({ newest: true })).toEqual([12_001, 6_001, 1]);
  expect(await find({ newest: true, limit: 2 })).toEqual([12_001, 6_001]);
  expect(await find({ after: 1, before: 12_001 })).toEqual([6_001]);
  expect(await find({ limit: 0 })).toEqual([]);
  expect(await find({ after: 20_000 })).toEqual([]);
});
