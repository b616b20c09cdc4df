import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { runImport } from '../../src/program/import-command.js';
import { readPlaces } from '../../src/program/settings.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { tempFolder } from '../support/temp-folder.js';

const TIMES = { called_at: '2026-03-01T12:00:00.000Z', received_at: '2026-03-01T12:00:01.000Z' };

/** A row of an export with one field changed; the fields of its record in the body, too. */
const rowOf = (id: string, body: Record<string, unknown> = {}) => {
  const whole = { project: 'p', channel: 'c', event: 'e', tags: {}, ...body };
  const { project, channel, event, user_id } = whole as Record<string, unknown>;
  const fields = { seq: 1, id, type: 'event', project, channel, event, user_id };
  return { ...fields, body: whole, ...TIMES, arrivals: 1 };
};
const textOf = (...lines: unknown[]): string =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');

/** Runs the command in a folder, over standard input or a file of the folder. */
const run = async (
  input: string | Buffer,
  { name, folder = tempFolder() }: { name?: string; folder?: string } = {},
) => {
  const [printed, said]: [string[], string[]] = [[], []];
  if (name) writeFileSync(join(folder, name), input);
  const failure = await runImport(name ? [join(folder, name)] : [], {
    places: readPlaces({ DATA_FOLDER: folder }),
    input: Readable.from(input.length ? [Buffer.from(input)] : [], { objectMode: false }),
    print: (line) => printed.push(line),
    say: (line) => said.push(line),
  }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  const path = join(folder, 'rows.db');
  const rows = async () => {
    const store = createLibsqlStore({ path });
    onTestFinished(() => store.close());
    return store.rows({}, { limit: 10_000 });
  };
  return { printed, said, failure, rows, path };
};

it.each([
  ['a file', textOf(rowOf('1'), rowOf('2')), 'rows.ndjson'],
  ['a file that is gzipped', gzipSync(textOf(rowOf('1'), rowOf('2'))), 'rows.ndjson.gz'],
  ['a file whose name does not say that it is', gzipSync(textOf(rowOf('1'), rowOf('2'))), 'rows'],
  ['a file whose name says it wrongly', textOf(rowOf('1'), rowOf('2')), 'rows.ndjson.gz'],
  ['standard input', textOf(rowOf('1'), rowOf('2')), undefined],
  ['standard input that is gzipped', gzipSync(textOf(rowOf('1'), rowOf('2'))), undefined],
  ['lines of Windows', `\ufeff${textOf(rowOf('1'), '', rowOf('2'), '')}`.replaceAll('\n', '\r\n')],
])('imports %s', async (_, input, name?: string) => {
  const { printed, failure, rows } = await run(input, name ? { name } : {});
  expect(printed).toEqual([
    'imported 2 rows; 0 were there already, 0 became dead letters, 0 lines are no rows',
  ]);
  expect(failure).toBeUndefined();
  expect((await rows()).map(({ id }) => id)).toEqual(['1', '2']);
});

it('says that erased users are back, if rows of users are new', async () => {
  const folder = tempFolder();
  const text = textOf(rowOf('1', { user_id: 'u' }), rowOf('2'));
  const first = await run(text, { folder });
  expect(first.printed.at(-1)).toBe(
    'if users were erased since the export, their rows are back: erase them again',
  );
  expect((await run(text, { folder })).printed).toEqual([
    'imported 0 rows; 2 were there already, 0 became dead letters, 0 lines are no rows',
  ]);
});

it('says how far it is', async () => {
  const { said } = await run(textOf(...Array.from({ length: 2_500 }, (_, n) => rowOf(`${n}`))));
  expect(said).toEqual(['1000 lines read …', '2000 lines read …', '2500 lines read …']);
});

const deep = `${'['.repeat(500)}${']'.repeat(500)}`;
const { project: _, ...nowhere } = rowOf('x').body;
it.each([
  ['half a line', JSON.stringify(rowOf('x')).slice(0, -1), 'it is no JSON object'],
  ['a line of CSV', 'seq,id,type', 'it is no JSON object'],
  ['a list', [rowOf('x')], 'it is no JSON object'],
  ['a line that is huge', `"${'x'.repeat(3_000_000)}"`, 'it has more than 1048576 bytes'],
  ['no id', { ...rowOf('x'), id: undefined }, '`id` is missing: 1 to 255 visible'],
  ['an id of spaces', { ...rowOf('x'), id: ' ' }, '`id` must be 1 to 255 visible'],
  ['no arrival', { ...rowOf('x'), received_at: undefined }, '`received_at` is missing'],
  ['a wrong time', { ...rowOf('x'), called_at: '1/3/2026' }, '`called_at` must be a date-time'],
  [
    'a time beyond databases',
    { ...rowOf('x'), called_at: '0000-12-31T23:59:59Z' },
    '`called_at` must be',
  ],
  ['half an arrival', { ...rowOf('x'), arrivals: 0.5 }, '`arrivals` must be a whole number'],
  ['too many arrivals', { ...rowOf('x'), arrivals: 2 ** 31 }, '`arrivals` must be'],
  ['a client that is no text', { ...rowOf('x'), client: 1 }, '`client` must be'],
  ['another type', { ...rowOf('x'), type: 'page' }, 'type must be "identify" or "event"'],
  ['no body', { ...rowOf('x'), body: undefined }, 'the body must be an object'],
  ['no project', { ...rowOf('x'), body: nowhere }, '`project` is missing'],
  ['another project', { ...rowOf('x'), project: 'q' }, '`project` must be the same as in the body'],
  ['tags of a wrong type', rowOf('x', { tags: [] }), '`tags` must be an object'],
  ['a deep body', rowOf('x', { tags: { deep: JSON.parse(deep) as unknown } }), 'levels at the'],
  ['a body that is too large', rowOf('x', { icon: 'x'.repeat(131_072) }), '131072 characters'],
])('tells of %s with the number of its line, and goes on', async (_name, line, words) => {
  const { said, printed, failure, rows } = await run(textOf(rowOf('1'), line, rowOf('2')));
  expect(said[0]).toMatch(/^line 2 is no row: /);
  expect(said[0]).toContain(words);
  expect(said[0]!.length).toBeLessThan(200);
  expect(printed).toEqual([
    'imported 2 rows; 0 were there already, 0 became dead letters, 1 lines are no rows',
  ]);
  expect(failure).toBe('1 lines were not imported');
  expect((await rows()).map(({ id }) => id)).toEqual(['1', '2']);
});

it('tells of bytes that are no UTF-8', async () => {
  const bad = Buffer.from([0x7b, 0xff, 0x7d, 0x0a]);
  const { said, rows } = await run(Buffer.concat([bad, Buffer.from(textOf(rowOf('2')))]));
  expect(said[0]).toBe('line 1 is no row: it is not UTF-8');
  expect(await rows()).toHaveLength(1);
});

it('shows the first wrong lines, and counts all', async () => {
  const { said, failure } = await run('x\n'.repeat(50));
  expect(said).toHaveLength(21);
  expect(said.at(-1)).toBe('30 more lines are no rows');
  expect(failure).toBe('50 lines were not imported');
});

it('imports nothing of an empty file, or of what a terminal would obey', async () => {
  expect((await run('', { name: 'rows.ndjson' })).printed[0]).toContain('imported 0 rows');
  expect((await run('')).printed[0]).toContain('imported 0 rows');
  const { said } = await run(textOf({ ...rowOf('1'), type: 'event', body: { '\u001b[2J': 1 } }));
  expect(said[0]).toMatch(/^[ -~]+$/);
});

it('says after which line a broken file ended', async () => {
  const whole = gzipSync(textOf(...Array.from({ length: 1_500 }, (_one, n) => rowOf(`${n}`))));
  const { failure } = await run(whole.subarray(0, -20));
  expect(failure).toMatch(/^the import broke off after line \d+, and can be run again: unexpected/);
});

it('makes no database for a file that is not there', async () => {
  const folder = tempFolder();
  const [input, quiet] = [Readable.from([]), { print: () => {}, say: () => {} }];
  const places = readPlaces({ DATA_FOLDER: folder });
  const lost = join(folder, 'lost.ndjson');
  await expect(runImport([lost], { places, input, ...quiet })).rejects.toThrow('ENOENT');
  await expect(runImport(['a', 'b'], { places, input, ...quiet })).rejects.toThrow('usage: import');
  expect(existsSync(join(folder, 'rows.db'))).toBe(false);
});
