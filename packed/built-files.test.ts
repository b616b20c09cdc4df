/** What no reader of the sources sees: the first line, the maps, the syntax and the names of the built files. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join } from 'node:path';
import { parse } from 'acorn';
import { describe, expect, it } from 'vitest';
import { FILES } from '../demo/site/page-handler.js';
import { MANIFEST } from './support/entries.js';
import { ROOT } from './support/install.js';

const HINT = '//# allFunctionsCalledOnLoad';
const TAG_FILES = ['outbox.js', 'outbox-relay.js', 'outbox-auto.js'];

const files = readdirSync(join(ROOT, 'dist'));
const scripts = files.filter((name) => /\.c?js$/.test(name));
const read = (name: string): string => readFileSync(join(ROOT, 'dist', name), 'utf8');

describe.each(TAG_FILES)('dist/%s', (name) => {
  it('begins with the line that has it compiled off the main thread', () => {
    const [first, second, ...rest] = read(name).trimEnd().split('\n');
    expect(first).toBe(HINT);
    expect(second).toMatch(/^[!(]/);
    expect(rest).toEqual([`//# sourceMappingURL=${name}.map`]);
  });

  it('has a source map that knows of that line', () => {
    const lines = read(name).split('\n');
    const line = lines.findIndex((text) => text.includes('sendBeacon'));
    const column = lines[line]!.indexOf('sendBeacon');
    const map = new SourceMap(JSON.parse(read(`${name}.map`)) as SourceMapPayload);
    expect(map.findEntry(line, column)).toMatchObject({
      originalSource: expect.stringMatching(/src\/client\/page\.ts$/),
      name: 'sendBeacon',
    });
  });

  it('is printed in a tag with the hash of the whole file, below the stub', () => {
    const print = join(ROOT, 'scripts/print-tag.mjs');
    const printed = execFileSync(process.execPath, [print], { encoding: 'utf8' });
    const [tag] = printed.split('<script async ').filter((part) => part.includes(`/${name}"`));
    const hash = createHash('sha384').update(read(name)).digest('base64');
    expect(tag).toContain(`integrity="sha384-${hash}"`);
    expect(printed).toContain(`<script>${read('stub.js').trim()}</script>`);
  });
});

it('no file that is imported or inlined has that line: most of its functions may not be called', () => {
  const others = scripts.filter((name) => !TAG_FILES.includes(name));
  expect(others).toEqual(expect.arrayContaining(['index.js', 'index.cjs', 'stub.js', 'relay.js']));
  expect(others.filter((name) => read(name).includes(HINT))).toEqual([]);
});

it('the tag for relays alone has no direct sender in it', () => {
  expect(read('outbox.js')).toMatch(/authorization/i);
  expect(read('outbox-relay.js')).not.toMatch(/authorization/i);
});

it('no file for pages calls `finally` of a promise, which the Promise of old libraries does not have', () => {
  const forPages = scripts.filter((name) => /^(outbox|index|client-shared|stub)/.test(name));
  expect(forPages).toEqual(expect.arrayContaining([...TAG_FILES, 'index.js', 'index.cjs']));
  expect(forPages.filter((name) => read(name).includes('.finally('))).toEqual([]);
});

/** Lists of blockers name such files: `/analytics.js?`, `/dist/analytics.`, `/assets/analytics.`. */
it('no file that a site serves is named after analytics', () => {
  const { exports, unpkg, jsdelivr } = MANIFEST;
  const served = [...files, JSON.stringify(exports), unpkg, jsdelivr, ...Object.keys(FILES)];
  expect(served.filter((name) => /analytics/i.test(name))).toEqual([]);
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

it.each(Object.entries(SYNTAX))('dist/%s has no syntax that is newer than ES%i', (name, year) => {
  expect(() => parse(read(name), { ecmaVersion: year })).not.toThrow();
  expect(read(name)).not.toMatch(LATER);
  expect(() => parse('/[a--b]/v', { ecmaVersion: year })).toThrow();
  expect('a ??= class { static {} }').toMatch(LATER);
});
