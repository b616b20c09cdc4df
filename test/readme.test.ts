import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { FEATURES } from '../src/capture/autocapture.js';
import { optionsProblem } from '../src/dev/options.js';
import { nameOf, OPTIONS, problemsOf, rangesOf, resolveOptions } from '../src/client/options.js';
import type { Options } from '../src/client/types.js';
import { runService } from './server/support/run-service.js';
import { compile, ROOT } from './support/compile.js';
import { blocks, declared, defaultOf, membersOf, plain, read, tableUnder } from './support/docs.js';

const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  '.github/CONTRIBUTING.md',
  '.github/SECURITY.md',
  ...readdirSync(new URL('../docs', import.meta.url))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const readme = read('README.md');
const optionsPage = read('docs/options.md');
const statusPage = read('docs/status.md');

// --- what the page says

const firstColumn = (heading: string): string[] =>
  tableUnder(optionsPage, heading).map(([cell]) => cell!);

/** The headings of a section, one level below its own, as text without backticks. */
const headingsUnder = (page: string, heading: string): string[] => {
  const [, section] = page.split(new RegExp(`^## ${heading}$`, 'm'));
  const [own] = section!.split(/^## /m);
  return [...own!.matchAll(/^### (.+)$/gm)].map(([, text]) => plain(text!));
};

// --- what the source says

const TYPES = 'src/client/types.ts';
/** Each once, though a method may have several forms. */
const namesOf = (name: string): string[] => [
  ...new Set(membersOf(TYPES, name).map((member) => member.name!.getText())),
];

/** The members of a union of texts. */
const textsOf = (type: ts.TypeNode): string[] =>
  ts.isUnionTypeNode(type)
    ? type.types.flatMap(textsOf)
    : ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal)
      ? [type.literal.text]
      : [];

const unionOf = (name: string): string[] =>
  textsOf((declared(TYPES, name) as ts.TypeAliasDeclaration).type);

const memberOf = (owner: string, name: string): ts.TypeElement =>
  membersOf(TYPES, owner).find((member) => member.name!.getText() === name)!;

const required: Record<string, unknown> = {
  baseUrl: 'https://in.example.com',
  token: 't',
  project: 'p',
  channel: 'c',
};

/** What a developer is told when an option is missing, or wrong. */
const complaint = (name: string, value: unknown): string =>
  optionsProblem(
    { ...required, [name]: value },
    problemsOf({ ...required, [name]: value } as never, true),
  );

const optionNames = Object.keys(OPTIONS);

describe('the table of options', () => {
  const rows = tableUnder(optionsPage, 'Options');
  const rowOf = (name: string) => rows.find(([cell]) => cell === name) ?? [];

  it('names every option, in the order of the source', () => {
    expect(rows.map(([name]) => name)).toEqual(optionNames);
  });

  it.each(optionNames)('has the attribute and the default of `%s`', (name) => {
    const [, attribute, value] = rowOf(name);
    expect(complaint(name, null)).toContain(`\`${name}\` (${attribute})`);
    const isRequired = complaint(name, undefined) !== '';
    const owner = ['CommonOptions', 'DirectOptions'].find((one) => namesOf(one).includes(name))!;
    expect(value).toBe(isRequired ? 'required' : plain(defaultOf(memberOf(owner, name))));
    const range = (rangesOf({}) as Partial<Record<string, readonly number[]>>)[name];
    if (range) expect(Number.parseInt(value!, 10)).toBe(range[0]);
    // The range stands in the meaning: (1 to 100).
    const [, least, most] = /\((\d+) to (\d+)\)/.exec(rowOf(name)[3]!) ?? [];
    expect([least, most]).toEqual(range?.slice(1).map(String) ?? [undefined, undefined]);
  });
});

describe('the tables of names', () => {
  it('have every method', () => {
    const methods = firstColumn('Methods').map((call) => call.replace(/\(.*/, ''));
    expect(methods).toEqual(namesOf('Analytics'));
  });

  it('have every event', () => {
    expect(firstColumn('Events to listen to')).toEqual(namesOf('Listeners'));
  });

  it('have every outcome', () => {
    const [, , outcome] = tableUnder(optionsPage, 'Events to listen to');
    for (const name of unionOf('Outcome')) expect(outcome!.join(' ')).toContain(name);
  });

  it('have every field of the status, and every pause', () => {
    const rows = tableUnder(statusPage, 'Status');
    expect(rows.map(([name]) => name)).toEqual(namesOf('Status'));
    const { type } = memberOf('Status', 'paused') as ts.PropertySignature;
    expect(textsOf(type!)).not.toEqual([]);
    expect(headingsUnder(statusPage, 'Why nothing is sent').sort()).toEqual(textsOf(type!).sort());
  });

  it('have every reason of a drop', () => {
    expect(headingsUnder(statusPage, 'Drop reasons')).toEqual(unionOf('DropReason'));
  });

  it('have the name of everything that is stored', () => {
    const options = { ...required, baseUrl: 'https://in.example.com', project: 'shop' };
    const name = nameOf(
      resolveOptions(options as unknown as Options, 'https://example.com/', true),
    );
    const sources = ['delivery/pump.ts', 'user.ts', 'outbox/note.ts', 'consent.ts'];
    const keys = sources
      .map((file) => read(`src/client/${file}`))
      .flatMap((source) => [
        ...[...source.matchAll(/`\$\{name\} ([a-z]+)[ `]/g)].map(([, key]) => `${name} ${key}`),
        ...[...source.matchAll(/`analytics-outbox \$\{own\} ([a-z]+)`/g)].map(
          ([, key]) => `analytics-outbox shop ${key}`,
        ),
      ]);
    expect(keys).toHaveLength(sources.length + 1); // consent has a key for the project, too
    const named = tableUnder(read('docs/privacy.md'), 'Privacy').map(([, cell]) =>
      cell!.replace(' <page>', ''),
    );
    const times = [`${name} user at`, 'analytics-outbox shop consent at'];
    expect([...named].sort()).toEqual([name, ...keys, ...times].sort());
  });
});

it('names every wait, with its value and its file', () => {
  const UNITS: Record<string, number> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000 };
  const named = tableUnder(read('ARCHITECTURE.md'), 'Waits').flatMap(([file, waits]) =>
    waits!.split(', ').map((wait) => {
      const [name, number, unit] = wait.split(' ');
      return `${file} ${name} ${Number(number) * UNITS[unit!]!}`;
    }),
  );
  const waits = ['client', 'dev', 'interface', 'util'].flatMap((folder) =>
    ts.sys.readDirectory(join(ROOT, 'src', folder), ['.ts']).flatMap((path) => {
      const found = readFileSync(path, 'utf8').matchAll(/const (\w+_MS) = ([\d_]+);/g);
      const file = path.slice(join(ROOT, 'src/').length);
      return [...found].map(([, name, ms]) => `${file} ${name} ${Number(ms!.replaceAll('_', ''))}`);
    }),
  );
  expect(named.sort()).toEqual(waits.sort());
});

it('names every feature of auto-capture, and its event', () => {
  const rows = tableUnder(read('docs/capture.md'), 'What is captured');
  expect(rows.map(([word, event]) => [word, event])).toEqual(
    Object.entries(FEATURES).map(([word, [, name]]) => [word, name || 'the element’s own']),
  );
});

it('shows the CORS headers of the service', async () => {
  const { send } = runService();
  const preflight = await send('/v1/event', {
    method: 'OPTIONS',
    headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
  });
  const [shown] = blocks(read('docs/services.md'), 'http');
  expect(shown!.trim().split('\n').sort()).toEqual(
    [...preflight.headers]
      .filter(([name]) => name.startsWith('access-control-'))
      .map(([name, value]) => `${name}: ${value.replaceAll(/,(?=\S)/g, ', ')}`)
      .sort(),
  );
});

// --- what was built

const isBuilt = (file: string): boolean => existsSync(join(ROOT, file));

it.runIf(isBuilt('dist/stub.js'))('shows the stub as built', () => {
  const [tag] = blocks(read('docs/start.md'), 'html');
  expect(tag).toContain(`<script>${read('dist/stub.js').trim()}</script>`);
});

it.runIf(isBuilt('dist/stub.js'))('names the hash of the stub as built', () => {
  const hash = createHash('sha256').update(read('dist/stub.js').trim()).digest('base64');
  expect(blocks(read('docs/tag.md'), 'http')[0]).toContain(`'sha256-${hash}'`);
});

// --- code and links

/** Most blocks leave out the import that they share. */
const IMPORT = `import { analytics } from 'analytics-outbox';\n`;
const withImport = (code: string): string => (/^import /m.test(code) ? code : IMPORT + code);

/** The pages whose blocks compile as they stand. */
const COMPILED = [
  ...['docs/start.md', 'docs/relay.md', 'docs/inspector.md', 'docs/migration.md'],
  ...['docs/usage.md', 'docs/options.md', 'docs/consent.md', 'docs/context.md', 'docs/capture.md'],
];

describe('the examples', () => {
  it('compile', () => {
    const examples = COMPILED.flatMap((file) =>
      ['ts', 'tsx'].flatMap((language) =>
        blocks(read(file), language).map((code, index) => [
          `${basename(file, '.md')}-${index}.${language}`,
          withImport(code),
        ]),
      ),
    );
    expect(examples.length).toBeGreaterThan(12);
    const compilerOptions = {
      ...{ types: [], jsx: 'react-jsx', moduleDetection: 'force' },
      ...{ verbatimModuleSyntax: false, noUnusedLocals: false, noUnusedParameters: false },
      paths: {
        'analytics-outbox': ['../../src/index.ts'],
        'analytics-outbox/compat/*': ['../../src/compat-*.ts'],
        'analytics-outbox/*': ['../../src/*.ts'],
      },
    };
    const config = { extends: '../../tsconfig.json', compilerOptions, include: ['.'] };
    expect(compile('examples', Object.fromEntries(examples), config)).toEqual([]);
  });
});

describe('the README', () => {
  it('leads to every page in docs', () => {
    const pages = PAGES.filter((file) => file.startsWith('docs/'));
    expect(pages.filter((file) => !readme.includes(`](${file})`))).toEqual([]);
  });

  it('can be read at a glance, and its five facts each in one line, with a proof', () => {
    expect(readme.trim().split('\n').length).toBeLessThanOrEqual(90);
    const [, facts] = /^## Five facts\n\n([^]*?)\n\n##/m.exec(readme)!;
    const lines = facts!.split('\n');
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      const [, fact, proof] = /^- (.+?) \[.+\]\((docs\/.+)\)$/.exec(line)!;
      expect(fact!.split(' ').length, fact).toBeLessThanOrEqual(12);
      expect(proof).toBeTruthy();
    }
  });
});

/** The anchors that GitHub gives the headings of a page. */
const anchorsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

const { homepage } = JSON.parse(read('package.json')) as { homepage: string };
/** Begins the address of a file that is not in the package: there a relative link would lead nowhere. */
const IN_REPOSITORY = new RegExp(`^${homepage.replace('#readme', '')}/(blob|tree)/main/`);

/** Links of a page that lead nowhere. */
const deadLinks = (file: string): string[] => {
  const text = read(file).replace(/^```[^]*?^```$/gm, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  return links.filter((link) => {
    const isOurs = IN_REPOSITORY.test(link);
    if (/^[a-z]+:/.test(link) && !isOurs) return false;
    const [path, anchor] = link.replace(IN_REPOSITORY, '').split('#');
    const folder = isOurs ? '.' : dirname(file);
    const target = path ? resolve(ROOT, folder, path) : join(ROOT, file);
    if (!existsSync(target)) return true;
    return !!anchor && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor);
  });
};

describe('links', () => {
  it.each(PAGES)('of %s lead to what is there', (file) => {
    expect(deadLinks(file)).toEqual([]);
  });
});

/** About calls side by side. */
const OTHER_TABLES = 'docs/migration.md';
const LONGEST_CELL = 140;

describe('tables', () => {
  const pages = PAGES.filter((file) => file.startsWith('docs/') && file !== OTHER_TABLES);

  it.each(pages)('of %s can be read on a phone: a cell is one short sentence', (file) => {
    const rows = read(file).match(/^\|.+\|$/gm) ?? [];
    const cells = rows
      .flatMap((row) => row.split(/(?<!\\)\|/))
      .map((cell) => cell.trim().replaceAll(/\]\([^)]*\)/g, ']'));
    const isLong = (cell: string): boolean =>
      cell.length > LONGEST_CELL || /\. [A-Z`]/.test(cell.replaceAll(/`[^`]*`/g, 'code'));
    expect(cells.filter((cell) => !/^-+$/.test(cell) && isLong(cell))).toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  const page = read('ARCHITECTURE.md');

  it('names all folders of the source, and nothing that is not there', () => {
    const named = [...page.matchAll(/`((?:src|demo|lab|test)\/[^`]*)`/g)].map(([, path]) => path!);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    const folders = new Set(
      ts.sys
        .readDirectory(join(ROOT, 'src'), ['.ts'])
        .map((path) => `${dirname(path.slice(ROOT.length))}/`),
    );
    expect([...folders].filter((path) => !named.includes(path))).toEqual([]);
  });
});
