import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { parse } from 'acorn';
import { DIST_FOLDER } from './support/dist.js';
import { expect, test } from './support/test.js';

const HINT = '//# allFunctionsCalledOnLoad';
const TAG_FILES = ['outbox.js', 'outbox-relay.js', 'outbox-auto.js'];
const PRINT_TAG = fileURLToPath(new URL('../scripts/print-tag.mjs', import.meta.url));

const read = (name: string): string => readFileSync(join(DIST_FOLDER, name), 'utf8');

for (const name of TAG_FILES) {
  test(`dist/${name} begins with the line that has it compiled off the main thread`, () => {
    const [first, second, ...rest] = read(name).trimEnd().split('\n');
    expect(first).toBe(HINT);
    expect(second).toMatch(/^[!(]/);
    expect(rest).toEqual([`//# sourceMappingURL=${name}.map`]);
  });

  test(`the source map of dist/${name} knows of that line`, () => {
    const lines = read(name).split('\n');
    const line = lines.findIndex((text) => text.includes('sendBeacon'));
    const column = lines[line]!.indexOf('sendBeacon');
    const map = new SourceMap(JSON.parse(read(`${name}.map`)) as SourceMapPayload);
    expect(map.findEntry(line, column)).toMatchObject({
      originalSource: expect.stringMatching(/src\/client\/page\.ts$/),
      name: 'sendBeacon',
    });
  });

  test(`the printed tag of dist/${name} has the hash of the whole file`, () => {
    const printed = execFileSync(process.execPath, [PRINT_TAG], { encoding: 'utf8' });
    const [tag] = printed.split('<script async ').filter((part) => part.includes(`/${name}"`));
    const hash = createHash('sha384').update(read(name)).digest('base64');
    expect(tag).toContain(`integrity="sha384-${hash}"`);
  });
}

test('the tag for relays alone has no direct sender in it', () => {
  expect(read('outbox.js')).toMatch(/authorization/i);
  expect(read('outbox-relay.js')).not.toMatch(/authorization/i);
});

test('no file for pages calls `finally` of a promise, which the Promise of old libraries does not have', () => {
  const files = readdirSync(DIST_FOLDER).filter((name) =>
    /^(outbox|index|client-shared|stub)/.test(name),
  );
  expect(files).toEqual(expect.arrayContaining([...TAG_FILES, 'index.js', 'index.cjs']));
  const found = files.filter((name) => /\.c?js$/.test(name) && read(name).includes('.finally('));
  expect(found).toEqual([]);
});

test('no file that is imported or inlined has that line: most of its functions may not be called', () => {
  const others = readdirSync(DIST_FOLDER).filter(
    (name) => /\.c?js$/.test(name) && !TAG_FILES.includes(name),
  );
  expect(others).toEqual(expect.arrayContaining(['index.js', 'index.cjs', 'stub.js', 'relay.js']));
  expect(others.filter((name) => read(name).includes(HINT))).toEqual([]);
});

/**
 * Years of the syntax that the oldest browsers in the README know: all that runs modules, and Safari 15.4. Of 2022
 * they know the fields of classes, which `web-vitals` has, and not all of the rest.
 */
const SYNTAX = {
  'stub.js': 2015,
  'outbox.js': 2021,
  'outbox-relay.js': 2021,
  'outbox-auto.js': 2022,
} as const;
const LATER = /\bstatic\s*\{|#\w+ in\b/;

for (const [name, ecmaVersion] of Object.entries(SYNTAX)) {
  test(`dist/${name} has no syntax that is newer than ES${ecmaVersion}`, () => {
    expect(() => parse(read(name), { ecmaVersion })).not.toThrow();
    expect(read(name)).not.toMatch(LATER);
    expect(() => parse('/[a--b]/v', { ecmaVersion })).toThrow();
    expect('a ??= class { static {} }').toMatch(LATER);
  });
}

test('dist/stub.js is small enough to be inlined in each page', () => {
  expect(brotliCompressSync(read('stub.js')).length).toBeLessThanOrEqual(600);
});
