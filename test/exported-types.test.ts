import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, expect, it } from 'vitest';
import { compile, ROOT } from './support/compile.js';

/** Apart from the sources, and from packages, which would be read as well. */
const DECLARATIONS = join(tmpdir(), `analytics-outbox-types-${process.pid}/`);

/** What users import: of the other files in `src`, one is for a tag and one for developers. */
const ENTRIES = readdirSync(`${ROOT}src`).filter(
  (name) => name.endsWith('.ts') && !/^(script|stub)|-dev\.ts$/.test(name),
);

/** Writes the declarations of these files and of what they import, with the inferred types written out. */
const declare = (entries: readonly string[]): void => {
  compile(
    'exported-types',
    {},
    {
      extends: '../../tsconfig.json',
      compilerOptions: {
        ...{ noEmit: false, declaration: true, emitDeclarationOnly: true },
        ...{ rootDir: `${ROOT}src`, declarationDir: DECLARATIONS },
      },
      files: entries.map((name) => `${ROOT}src/${name}`),
      include: [],
    },
  );
};

/**
 * Types that the signatures of what entries export name, and that no entry exports. What a conditional type is made of
 * does not count: it is a computation, and its result is what users see.
 */
const namelessIn = (names: readonly string[]): string[] => {
  const entries = names.map((name) => join(DECLARATIONS, name.replace(/\.ts$/, '.d.ts')));
  const options = { noLib: true, noEmit: true, types: [], module: ts.ModuleKind.ESNext };
  const program = ts.createProgram(entries, {
    ...options,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  });
  const checker = program.getTypeChecker();

  const resolved = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exported = new Set(
    entries
      .flatMap((entry) =>
        checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)!)!),
      )
      .map(resolved),
  );
  expect(exported.size).toBeGreaterThan(100);
  /** Of a file here, and no type parameter. */
  const isOurs = (symbol: ts.Symbol) =>
    symbol.declarations?.some(
      ({ parent }) => ts.isSourceFile(parent) && parent.fileName.startsWith(DECLARATIONS),
    );

  const nameless = new Set<string>();
  const look = (node: ts.Node): void => {
    if (ts.isConditionalTypeNode(node)) return;
    const symbol = ts.isIdentifier(node) && checker.getSymbolAtLocation(node);
    if (symbol && isOurs(resolved(symbol)) && !exported.has(resolved(symbol)))
      nameless.add(symbol.name);
    ts.forEachChild(node, look);
  };
  for (const { declarations = [] } of exported) declarations.forEach(look);
  return [...nameless];
};

afterAll(() => rmSync(DECLARATIONS, { recursive: true, force: true }));

it('every type that a public signature names can be imported', () => {
  declare(ENTRIES);
  expect(namelessIn(ENTRIES)).toEqual([]);
});
