import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = `${ROOT}src/`;
/** Where the declarations are, as if in a folder without the sources, which would be found first. */
const DECLARATIONS = '/declarations/';

const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, (path) => ts.sys.readFile(path)) as {
  config: object;
};
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);

/** What users import: of the other files in `src`, one is for a tag and one for developers. */
const ENTRIES = readdirSync(SOURCES)
  .filter((name) => name.endsWith('.ts') && !/^(script|stub)|-dev\.ts$/.test(name))
  .map((name) => SOURCES + name);

/** The declarations of these files and of what they import, with the inferred types written out. */
const declarationsOf = (entries: string[]): Map<string, string> => {
  const texts = new Map<string, string>();
  const settings = {
    ...options,
    ...{ noEmit: false, declaration: true, emitDeclarationOnly: true },
    ...{ rootDir: SOURCES, declarationDir: DECLARATIONS },
  };
  ts.createProgram(entries, settings).emit(undefined, (name, text) => void texts.set(name, text));
  return texts;
};

/**
 * Types that the signatures of what entries export name, and that no entry exports. What a conditional type is made of
 * does not count: it is a computation, and its result is what users see.
 */
const namelessIn = (entries: string[], texts: Map<string, string>): string[] => {
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (name) => texts.get(name) ?? readFile(name);
  host.fileExists = (name) => texts.has(name) || fileExists(name);
  host.directoryExists = () => true;
  host.getSourceFile = (name, target) => {
    const text = host.readFile(name);
    return text === undefined ? undefined : ts.createSourceFile(name, text, target, true);
  };
  const program = ts.createProgram(entries, { ...options, noEmit: true, noLib: true }, host);
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
  /** Of a file here, and no type parameter. */
  const isOurs = (symbol: ts.Symbol) =>
    symbol.declarations?.some(
      ({ parent }) => ts.isSourceFile(parent) && texts.has(parent.fileName),
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

it('every type that a public signature names can be imported', () => {
  const texts = declarationsOf(ENTRIES);
  const entries = ENTRIES.map((name) =>
    name.replace(SOURCES, DECLARATIONS).replace(/\.ts$/, '.d.ts'),
  );
  expect(namelessIn(entries, texts)).toEqual([]);
});

it('a type is missed that only a signature names', () => {
  const texts = new Map([
    [`${DECLARATIONS}a.d.ts`, `export { b } from './b.js'; export type { C } from './b.js';`],
    [
      `${DECLARATIONS}b.d.ts`,
      `interface Hidden<T> { a: T }
      type Inner = 1;
      export interface C { inner: Inner }
      export declare const b: (hidden: Hidden<C>) => void;`,
    ],
  ]);
  expect(namelessIn([`${DECLARATIONS}a.d.ts`], texts).sort()).toEqual(['Hidden', 'Inner']);
});
