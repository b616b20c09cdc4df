import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './support/compile.js';
import { read } from './support/docs.js';

// Each command of a workflow and of a document asks for scripts, files, projects and names that there are.

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`);

const WORKFLOWS = filesIn('.github/workflows', '.yml');
/** Those about the reader's own app have the commands of other tools. */
const OF_AN_APP = /\/(frameworks|recipes)\.md$/;
const DOCUMENTS = [
  ...['README.md', 'ARCHITECTURE.md', '.github/CONTRIBUTING.md', 'demo/README.md'],
  ...filesIn('docs', '.md').filter((file) => !OF_AN_APP.test(file)),
];

const COMMAND = /^(?:[A-Z_]+=\S* )*(npm|npx|node) /;
const partsOf = (line: string): string[] =>
  line
    .replace(/ +#.*/, '')
    .split('&&')
    .map((part) => part.trim())
    .filter((part) => COMMAND.test(part));

/** What a workflow runs: after `run:`, which may stand in braces or quotes, and on lines of its own. */
const ofWorkflow = (file: string): string[] =>
  read(file)
    .split('\n')
    .map((line) => line.replace(/^.*?\brun: |^ +/, '').replace(/(, \w+: .+)? \}$|,$/, ''))
    .flatMap((line) => partsOf(line.replace(/^'(.*)'$/, '$1')));

/** What a document names: in its text, and in its blocks for a shell. */
const ofDocument = (file: string): string[] => {
  const text = read(file);
  const blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, code]) =>
    code!.replaceAll('\\\n', '').split('\n'),
  );
  const inText = [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)];
  return [...blocks, ...inText.map(([, code]) => code!)].flatMap(partsOf);
};

const { scripts, bin } = JSON.parse(read('package.json')) as Record<
  'scripts' | 'bin',
  Record<string, string>
>;

interface Listed {
  project: string;
  file: string;
  /** What a name is looked for in: the title, or the text of a whole file of unit tests. */
  title: string;
}
let unitTests: Listed[] = [];
let browserTests: Listed[] = [];

const node = (...args: string[]): string =>
  execFileSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    // All that there is, though there may be no browser.
    env: {
      ...process.env,
      ...{ PROMISE: 'all', NIGHT: '1' },
      ...{ CHROMIUM_PATH: process.execPath, FIREFOX_PATH: process.execPath },
    },
  });

interface Suite {
  title: string;
  specs: { title: string; file: string; tags: string[]; tests: { projectName: string }[] }[];
  suites?: Suite[];
}

const listedIn = ({ title, specs, suites = [] }: Suite): Listed[] => [
  ...specs.flatMap(({ file, tags, tests, ...spec }) =>
    tests.map(({ projectName: project }) => ({
      ...{ project, file: `e2e/${file}` },
      title: `${project} ${file} ${title} ${spec.title} ${tags.map((tag) => `@${tag}`).join(' ')}`,
    })),
  ),
  ...suites.flatMap(listedIn),
];

const listTests = (): void => {
  const vitest = node('node_modules/vitest/vitest.mjs', 'list', '--filesOnly', '--json');
  unitTests = (JSON.parse(vitest) as { file: string; projectName: string }[]).map(
    ({ file, projectName: project }) => {
      const name = file.slice(ROOT.length);
      return { project, file: name, title: read(name) };
    },
  );
  const playwright = node(
    'node_modules/@playwright/test/cli.js',
    'test',
    '--list',
    '--reporter=json',
  );
  browserTests = (JSON.parse(playwright) as { suites: Suite[] }).suites.flatMap(listedIn);
};

/** The words of a command as a shell takes them, without what it sets in the environment. */
const wordsOf = (command: string): string[] =>
  [...command.replace(/^([A-Z_]+=\S* )+/, '').matchAll(/"([^"]*)"|'([^']*)'|[^\s"']+/g)].map(
    ([word, double, single]) => double ?? single ?? word,
  );

/** The patterns that a pattern with `(a|b)` in it stands for: each has to find something. */
const eachOf = (pattern: string): string[] => {
  const [group, inside] = /\(([^()]*\|[^()]*)\)/.exec(pattern) ?? [];
  return group
    ? inside!.split('|').flatMap((one) => eachOf(pattern.replace(group, one)))
    : [pattern];
};

/** Options with a value that tests have to be there for: of which project, of which name. */
const OF_PROJECT = ['--project'];
const OF_NAME = ['-g', '-t', '--grep-invert'];
const WITH_VALUE = [...OF_PROJECT, ...OF_NAME, '--repeat-each', '--maxWorkers'];

/** What a command of Vitest or Playwright asks for and would not find. */
const notFound = (tests: Listed[], args: string[]): string[] => {
  const valuesOf = (names: string[]) =>
    args.flatMap((arg, index) => (names.includes(args[index - 1] ?? '') ? [arg] : []));
  const paths = args.filter(
    (arg, index) => !arg.startsWith('-') && !WITH_VALUE.includes(args[index - 1] ?? ''),
  );
  let left = tests;
  const missing: string[] = [];
  const keep = (wanted: string, isWanted: (test: Listed) => boolean): void => {
    if (!left.some(isWanted)) missing.push(wanted);
  };
  for (const name of valuesOf(OF_PROJECT)) {
    keep(name, ({ project }) => project === name);
    left = left.filter(({ project }) => project === name);
  }
  for (const path of paths) keep(path, ({ file }) => file.includes(path));
  if (paths.length) left = left.filter(({ file }) => paths.some((path) => file.includes(path)));
  for (const pattern of valuesOf(OF_NAME).flatMap(eachOf)) {
    // A title of `it.each` has `%i` where the number will be.
    const regex = new RegExp(pattern.replace(/\d+/g, '(?:$&|%[a-z])'), 'i');
    keep(pattern, ({ title }) => regex.test(title));
  }
  return missing;
};

/** What a command asks for that there is not. */
const missingFor = ([tool = '', ...args]: string[]): string[] => {
  if (tool === 'npm') {
    const [verb = '', ...more] = args;
    const [name = '', ...rest] = verb === 'run' ? more : [verb, ...more];
    if (/^(install|ci|pack|publish|version)$/.test(name)) return [];
    const script = scripts[name];
    if (!script) return [`npm run ${name}`];
    const given = rest.filter((arg) => arg !== '--');
    return script.split('&&').flatMap((part) => missingFor([...wordsOf(part), ...given]));
  }
  if (tool === 'npx') return missingFor(args);
  if (tool === 'node') {
    const [file = '', option, value = ''] = args;
    if (Object.values(bin).includes(`./${file}`)) return [];
    if (!existsSync(join(ROOT, file))) return [file];
    const steps = option === '--only' ? value.split(',') : [];
    return steps.filter((step) => !new RegExp(`\\b${step}\\b`).test(read(file)));
  }
  if (tool === 'vitest')
    return notFound(
      unitTests,
      args.filter((arg) => arg !== 'run'),
    );
  if (tool === 'playwright') return args[0] === 'test' ? notFound(browserTests, args.slice(1)) : [];
  return tool in bin || existsSync(join(ROOT, 'node_modules/.bin', tool)) ? [] : [tool];
};

const COMMANDS = [
  ...WORKFLOWS.flatMap((file) => ofWorkflow(file).map((command) => [file, command] as const)),
  ...DOCUMENTS.flatMap((file) => ofDocument(file).map((command) => [file, command] as const)),
  ...Object.keys(scripts).map((name) => ['package.json', `npm run ${name}`] as const),
];

it('finds the commands of workflows and documents', () => {
  const commands = COMMANDS.map(([, command]) => command);
  for (const command of ['npm ci', 'npm test', 'node site/build.mjs', 'npm run build'])
    expect(commands).toContain(command);
  expect(commands.length).toBeGreaterThan(90);
});

// Some end-to-end tests import what is built.
it.runIf(existsSync(join(ROOT, 'dist/testing.js')))(
  'finds whatever a command of a workflow or a document asks for',
  () => {
    listTests();
    const wrong = COMMANDS.map(([file, command]) => [
      file,
      command,
      ...missingFor(wordsOf(command)),
    ]);
    expect(wrong.filter(([, , ...missing]) => missing.length)).toEqual([]);
  },
);
