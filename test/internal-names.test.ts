import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { INTERNAL } from '../rollup.names.mjs';

/** Where every member is seen from outside: by pages, by services and relays. */
const OUTSIDE = [
  'src/client/types.ts',
  'src/capture/types.ts',
  'src/context/types.ts',
  'src/interface/bodies.ts',
  'src/interface/wire.ts',
];
/** What is stored, or shared with other scripts of the page. */
const SHARED: Record<string, string[]> = {
  'src/client/outbox/parcel.ts': ['StoredParcel', 'KeptRecord'],
  'src/client/outbox/lease.ts': ['StoredLease'],
  'src/client/outbox/note.ts': ['Note', 'NotedParcel'],
  'src/client/delivery/backoff.ts': ['Gate'],
  'src/client/consent.ts': ['Fact'],
  'src/client/record.ts': ['Call'],
};

/** The names of all members that a file declares, or these of its types. */
const membersOf = (file: string, types?: readonly string[]): string[] => {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const names: string[] = [];
  const found = new Set<string>();
  const visit = (node: ts.Node, isSeen: boolean): void => {
    const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
    if (isType && types?.includes(node.name.text)) found.add(node.name.text);
    const isInside = isSeen || (isType && !!types?.includes(node.name.text));
    if (isInside && (ts.isPropertySignature(node) || ts.isMethodSignature(node)))
      names.push(node.name.getText(source));
    ts.forEachChild(node, (child) => visit(child, isInside));
  };
  visit(source, !types);
  expect([...found].sort()).toEqual([...(types ?? [])].sort());
  return names;
};

/** The names of all members that objects of a file are made with. */
const madeIn = (file: string): string[] => {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node))
      for (const { name } of node.properties) if (name) names.push(name.getText(source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
};

const seen = new Set([
  ...OUTSIDE.flatMap((file) => membersOf(file)),
  ...Object.entries(SHARED).flatMap(([file, types]) => membersOf(file, types)),
]);

/** The code of the tags, without its comments, and of what developers and pages have beside them. */
const codeIn = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*/g, ''))
    .join('\n');
const code = codeIn('src/client') + codeIn('src/capture');
/** Folders whose objects become tags of events, and the files there that make other objects. */
const TAGS = ['src/context', 'src/capture'];
const NO_TAGS = ['page.ts', 'views.ts'];
const stub = readFileSync('src/stub.ts', 'utf8');

describe('names that the tags shorten', () => {
  it('are told from those that are seen', () => {
    expect(seen.size).toBeGreaterThan(100);
    expect([...seen]).toEqual(expect.arrayContaining(['userId', 'flight', 'isAsked', 'followers']));
  });

  it.each(TAGS)('are no names of tags that are made in %s', (folder) => {
    const names = readdirSync(folder)
      .filter((file) => !NO_TAGS.includes(file))
      .flatMap((file) => madeIn(`${folder}/${file}`));
    expect(names).toEqual(expect.arrayContaining([folder === 'src/context' ? 'width' : 'seconds']));
    expect(names.filter((name) => INTERNAL.includes(name))).toEqual([]);
  });

  it.each(INTERNAL)('are members of the code, and seen by nobody else: %s', (name) => {
    expect(code).toMatch(new RegExp(`\\.${name}\\b|\\b${name}\\??[,:(]|[{,] ${name}[ ,=]`));
    expect(seen).not.toContain(name);
    expect(stub).not.toMatch(new RegExp(`\\.${name}\\b|\\b${name}:`));
    // By its name as text nobody would reach it.
    expect(code).not.toMatch(new RegExp(`\\['${name}'\\]`));
  });
});
