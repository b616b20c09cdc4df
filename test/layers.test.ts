import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/** Layers from the bottom up. The parts of a layer do not see each other; imports only go down. */
const LAYERS: readonly (readonly string[])[] = [
  // What the snippet, the relay and the service share.
  ['interface/'],
  ['client/types.ts'],
  // What the client sees of the page and its browser.
  ['client/page.ts', 'client/later.ts'],
  ['client/life.ts'],
  ['client/options.ts'],
  ['client/record.ts'],
  ['client/outbox/'],
  ['client/delivery/send/'],
  ['client/delivery/'],
  // The parts put together, and the facade in front of them.
  ['client/'],
  // What stands on the facade: the script tag, and what developers are told.
  ['client/tag.ts', 'dev/'],
  // What users set up beside the tracker.
  ['capture/'],
  ['context/'],
  // What other tools' calls stand on.
  ['compat/browser/'],
  ['compat/'],
  // A tracker for tests, of the same parts.
  ['testing/'],
  // What all parts of a relay share.
  ['relay/'],
  ['relay/queue/'],
  ['relay/delivery/'],
  ['relay/front/'],
  // The service stands behind the same admission as a relay, and writes files as its queue does.
  ['service/store/'],
  ['service/'],
  // A page that shows what the service has, over HTTP alone.
  ['service/rows/page/'],
  // What users import or load.
  [''],
  // What users run: it stands on the entries, as a site's own server does.
  ['program/'],
];
const ENTRY_LAYER = LAYERS.findIndex((parts) => parts.includes(''));
const PARTS = LAYERS.flat();

/** Globals that only the parts below and the entries may name: all else runs in a worker and in a test. */
const PAGE_GLOBALS = new Set([
  'window',
  'document',
  'navigator',
  'location',
  'localStorage',
  'sessionStorage',
  'indexedDB',
]);
/** Parts that are of the page by nature. */
const OF_THE_PAGE = [
  'client/page.ts',
  'client/life.ts',
  'client/tag.ts',
  'dev/',
  'capture/',
  'context/',
  'compat/browser/',
  'service/rows/page/',
];
const GLOBAL_OBJECTS = new Set(['globalThis', 'self']);

type Sources = Readonly<Record<string, string>>;

interface Import {
  to: string;
  isRuntime: boolean;
}

/** The nearest of the folders that a file stands in, or the file itself, that is a part; none in an unknown folder. */
const partOf = (file: string): string | undefined => {
  if (PARTS.includes(file)) return file;
  const [folder] = file.match(/^.*\//) ?? [''];
  for (let part = folder; part; part = part.replace(/[^/]+\/$/, '')) {
    if (PARTS.includes(part)) return part;
  }
  return folder ? undefined : '';
};
const layerOf = (file: string): number =>
  LAYERS.findIndex((parts) => parts.includes(partOf(file) ?? '?'));

const parse = (file: string, text: string): ts.SourceFile =>
  ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);

const eachNode = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(node);
  node.forEachChild((child) => eachNode(child, visit));
};

/** A specifier counts at runtime unless all of it is `type`; `import 'x'` and `export *` always do. */
const isRuntime = (node: ts.ImportDeclaration | ts.ExportDeclaration): boolean => {
  if (ts.isExportDeclaration(node)) {
    if (node.isTypeOnly) return false;
    const { exportClause } = node;
    return !(exportClause && ts.isNamedExports(exportClause) && isAllTypes(exportClause.elements));
  }
  const { importClause } = node;
  if (!importClause) return true;
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return false;
  const { name, namedBindings } = importClause;
  return !(
    !name &&
    namedBindings &&
    ts.isNamedImports(namedBindings) &&
    isAllTypes(namedBindings.elements)
  );
};
const isAllTypes = (elements: readonly { isTypeOnly: boolean }[]): boolean =>
  elements.length > 0 && elements.every(({ isTypeOnly }) => isTypeOnly);

/** The module a node asks for, however it asks. */
const requested = (node: ts.Node): { name: string; isRuntime: boolean } | undefined => {
  if (
    (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) &&
    node.moduleSpecifier &&
    ts.isStringLiteral(node.moduleSpecifier)
  ) {
    return { name: node.moduleSpecifier.text, isRuntime: isRuntime(node) };
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [name] = node.arguments;
    if (name && ts.isStringLiteral(name)) return { name: name.text, isRuntime: true };
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const { literal } = node.argument;
    if (ts.isStringLiteral(literal)) return { name: literal.text, isRuntime: false };
  }
  return undefined;
};

const importsOf = (file: string, sources: Sources): Import[] => {
  const imports: Import[] = [];
  eachNode(parse(file, sources[file]!), (node) => {
    const request = requested(node);
    if (!request?.name.startsWith('.')) return;
    const path = normalize(join(dirname(file), request.name)).replace(/\.[jt]s$/, '');
    const to = `${path}.tsx` in sources ? `${path}.tsx` : `${path}.ts`;
    imports.push({ to, isRuntime: request.isRuntime });
  });
  return imports;
};

/** Whether the identifier is only the name of a member: `x.location`, `{ location: 1 }`. */
const isMemberName = (node: ts.Identifier): boolean => {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) {
    const isOfGlobal =
      ts.isIdentifier(parent.expression) && GLOBAL_OBJECTS.has(parent.expression.text);
    return parent.name === node && !isOfGlobal;
  }
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  return (
    (ts.isPropertyAssignment(parent) ||
      ts.isPropertySignature(parent) ||
      ts.isPropertyDeclaration(parent) ||
      ts.isMethodSignature(parent) ||
      ts.isMethodDeclaration(parent) ||
      ts.isGetAccessor(parent) ||
      ts.isSetAccessor(parent)) &&
    parent.name === node
  );
};

/**
 * A checker that knows this one file and no library, so that what it cannot resolve is a global, and
 * a variable that happens to be called `window` is not.
 */
const checkerOf = (file: string, source: ts.SourceFile): ts.TypeChecker => {
  const options: ts.CompilerOptions = { noLib: true, noResolve: true };
  const host = ts.createCompilerHost(options);
  host.getSourceFile = (name) => (name === file ? source : undefined);
  return ts.createProgram([file], options, host).getTypeChecker();
};

const isLocal = (checker: ts.TypeChecker, node: ts.Identifier): boolean => {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) {
    return !!checker.getShorthandAssignmentValueSymbol(parent);
  }
  // `globalThis.location`, or it would have been taken for the name of a member.
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return false;
  return !!checker.getSymbolAtLocation(node);
};

const pageGlobalsIn = (file: string, text: string): string[] => {
  const source = parse(file, text);
  const suspects: ts.Identifier[] = [];
  eachNode(source, (node) => {
    if (ts.isIdentifier(node) && PAGE_GLOBALS.has(node.text) && !isMemberName(node)) {
      suspects.push(node);
    }
  });
  if (!suspects.length) return [];
  const checker = checkerOf(file, source);
  const named = suspects.filter((node) => !isLocal(checker, node)).map(({ text }) => text);
  return [...new Set(named)];
};

const wrongWay = (from: string, to: string): string | undefined => {
  const [above, below] = [layerOf(from), layerOf(to)];
  if (below > above) return `${from} imports ${to}, which is above it`;
  const isOnePart = partOf(from) === partOf(to) && above !== ENTRY_LAYER;
  if (below === above && !isOnePart) return `${from} imports ${to}, which is beside it`;
  return undefined;
};

const cyclesIn = (graph: ReadonlyMap<string, readonly string[]>): string[] => {
  const cycles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      cycles.push(`cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
      return;
    }
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) walk(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) walk(file, []);
  return cycles;
};

/** All that breaks the layer rule, each in words. */
const violations = (sources: Sources): string[] => {
  const files = Object.entries(sources);
  const runtime = new Map<string, string[]>();
  const found: string[] = [];
  for (const [file, text] of files) {
    if (layerOf(file) < 0) {
      found.push(`${file} is in no layer`);
      continue;
    }
    const imports = importsOf(file, sources);
    runtime.set(
      file,
      imports.filter((wanted) => wanted.isRuntime).map(({ to }) => to),
    );
    for (const { to } of imports) {
      const problem =
        to in sources ? wrongWay(file, to) : `${file} imports ${to}, which is not there`;
      if (problem) found.push(problem);
    }
    if (layerOf(file) !== ENTRY_LAYER && !OF_THE_PAGE.includes(partOf(file) ?? '?')) {
      found.push(...pageGlobalsIn(file, text).map((name) => `${file} names ${name}`));
    }
  }
  return [...found, ...cyclesIn(runtime)];
};

const readSources = (): Sources => {
  const folder = fileURLToPath(new URL('../src/', import.meta.url));
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /\.tsx?$/.test(name));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
};

describe('the layers of src', () => {
  it('keeps to the rule', () => {
    const sources = readSources();
    expect(Object.keys(sources)).not.toEqual([]);
    expect(violations(sources)).toEqual([]);
  });
});

describe('the build for relays alone', () => {
  const sources = readSources();
  /** All that a file brings with it at runtime. */
  const reachedFrom = (entry: string): string[] => {
    const reached = new Set<string>();
    const walk = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const { to, isRuntime } of importsOf(file, sources)) if (isRuntime) walk(to);
    };
    walk(entry);
    return [...reached];
  };
  const direct = 'client/delivery/send/direct.ts';

  it.each(['relay-client.ts', 'script-relay.ts'])('has no direct sender: %s', (file) => {
    expect(reachedFrom(file)).not.toContain(direct);
    expect(reachedFrom(file)).toContain('client/delivery/send/relay.ts');
  });

  it.each(['index.ts', 'script.ts'])('is told from the one for both: %s', (file) => {
    expect(reachedFrom(file)).toContain(direct);
  });
});

describe('the layer rule', () => {
  const BASE = { 'interface/errors.ts': 'export const e = 1' };
  const of = (sources: Sources) => violations({ ...BASE, ...sources });

  it('lets imports go down', () => {
    expect(
      of({
        'index.ts': `export { a } from './client/a.js'; export type * from './client/types.js'`,
        'client/a.ts': `import { f } from './delivery/f.js'; import { g } from './page'; export const a = [f, g]`,
        'client/types.ts': 'export type A = 1',
        'client/delivery/f.ts': `export { h as f } from './h.js'`,
        'client/delivery/h.ts': `import { e } from '../../interface/errors.js'; export const h = e`,
        'client/page.ts': `export const g = () => window.document`,
      }),
    ).toEqual([]);
  });

  it('refuses an import that goes up, of a type and in an expression too', () => {
    expect(
      of({
        'client/record.ts': `import type { F } from './delivery/f.js'`,
        'client/outbox/b.ts': `export * from '../delivery/f.js'`,
        'client/options.ts': `export const c = () => import('./delivery/f.js')`,
        'client/delivery/send/d.ts': `export type D = import('../f.js').F`,
        'client/delivery/f.ts': 'export type F = 1',
      }),
    ).toEqual([
      'client/record.ts imports client/delivery/f.ts, which is above it',
      'client/outbox/b.ts imports client/delivery/f.ts, which is above it',
      'client/options.ts imports client/delivery/f.ts, which is above it',
      'client/delivery/send/d.ts imports client/delivery/f.ts, which is above it',
    ]);
  });

  it('refuses a part that sees one of its layer, and an entry that sees another', () => {
    expect(
      of({
        'client/tag.ts': `import { b } from '../dev/b.js'`,
        'dev/b.ts': 'export const b = 1',
        'script.ts': `import './index.js'`,
        'index.ts': '',
      }),
    ).toEqual([
      'client/tag.ts imports dev/b.ts, which is beside it',
      'script.ts imports index.ts, which is beside it',
    ]);
  });

  it('refuses a cycle at runtime, but not one of types', () => {
    expect(
      of({
        'client/outbox/a.ts': `import { b } from './b.js'; export const a = b`,
        'client/outbox/b.ts': `import { c } from './c.js'; export const b = c`,
        'client/outbox/c.ts': `import { a } from './a.js'; export const c = a`,
      }),
    ).toEqual([
      'cycle: client/outbox/a.ts → client/outbox/b.ts → client/outbox/c.ts → client/outbox/a.ts',
    ]);
    expect(
      of({
        'client/outbox/a.ts': `import { b } from './b.js'; export const a = b`,
        'client/outbox/b.ts': `import { type A } from './a.js'; import type { A as C } from './a.js'; export const b = 1`,
      }),
    ).toEqual([]);
  });

  it('refuses the globals of a page outside the parts of the page and the entries', () => {
    expect(
      of({
        'client/outbox/a.ts': `export const a = () => globalThis.localStorage`,
        'client/delivery/b.ts': `export const b = typeof window === 'undefined' ? 1 : navigator.onLine`,
        'client/outbox/c.ts': `export const c = { document }`,
        'script.ts': `document.currentScript`,
      }),
    ).toEqual([
      'client/outbox/a.ts names localStorage',
      'client/delivery/b.ts names window',
      'client/delivery/b.ts names navigator',
      'client/outbox/c.ts names document',
    ]);
  });

  it('takes neither the name of a member nor a variable for a global', () => {
    expect(
      of({
        'client/outbox/a.ts': `
          // window, document
          interface X { location: string; document(): void }
          export const a = (x: X) => ({ location: x.location, text: 'navigator' });
          export const b = ({ location: place }: X) => place;
          export const c = (window: number[]) => ({ window, size: window.length });
        `,
      }),
    ).toEqual([]);
  });

  it('refuses a file that has no layer and an import of a file that is not there', () => {
    expect(of({ 'helpers/a.ts': '', 'client/outbox/b.ts': `import '../gone.js'` })).toEqual([
      'helpers/a.ts is in no layer',
      'client/outbox/b.ts imports client/gone.ts, which is not there',
    ]);
  });
});
