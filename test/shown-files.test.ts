import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RECIPES } from '../packed/support/recipes.js';
import { ROOT } from './support/compile.js';
import { read } from './support/docs.js';

const EXAMPLES = 'demo/examples';
const namesIn = (folder: string): string[] =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' }).map((name) =>
    name.replaceAll('\\', '/'),
  );
const LANGUAGES: Readonly<Record<string, string>> = { mjs: 'js' };

/** What a page shows of what is compiled and run elsewhere, by end-to-end tests. */
const SHOWN: readonly (readonly [page: string, folder: string, files: readonly string[]])[] = [
  ['services', 'e2e/fixtures/services', ['logsnag.mjs']],
  [
    'testing-your-site',
    'e2e/fixtures/testing',
    ['sign-up.ts', 'sign-up.test.ts', 'sign-up.spec.ts'],
  ],
];

describe.each(SHOWN)('docs/%s.md', (name, folder, files) => {
  const page = read(`docs/${name}.md`);

  it.each(files)(`shows ${folder}/%s as it is run`, (file) => {
    const end = file.split('.').at(-1)!;
    const source = read(`${folder}/${file}`);
    expect(page).toContain(`\`\`\`${LANGUAGES[end] ?? end}\n${source}\`\`\`\n`);
  });

  it('shows no other code, and leads to the other files', () => {
    const code = page.match(/^```(js|ts)$/gm);
    expect(code).toHaveLength(files.length);
    const others = namesIn(folder).filter(
      (file) => /(?<!\.config)\.m?[jt]s$/.test(file) && !files.includes(file),
    );
    expect(others.filter((file) => !page.includes(`main/${folder}/${file})`))).toEqual([]);
  });
});

it('the page about the server leads to every recipe that is run', () => {
  const links = read('docs/server.md').matchAll(
    /main\/(?:packed\/recipes|demo\/examples)\/([\w-]+)/g,
  );
  const linked = new Set([...links].map(([, folder]) => folder));
  expect([...linked].sort()).toEqual(Object.keys(RECIPES).sort());
});

const RECIPE_FILES = namesIn('packed/recipes').filter((name) => /^(?!support).+\.\w+$/.test(name));

it.each(RECIPE_FILES)('the recipe %s can be read at a glance', (name) => {
  expect(read(`packed/recipes/${name}`).trim().split('\n').length).toBeLessThanOrEqual(40);
});

describe('the page about frameworks', () => {
  const page = read('docs/frameworks.md');
  // The paragraph before each block names the file.
  const blocks = [...page.matchAll(/^(.+)\n\n```(\w+)\n([^]*?)^```$/gm)];

  it('shows nothing but files of the examples, as they are built', () => {
    expect(blocks).toHaveLength(page.match(/^```\w+$/gm)!.length);
    for (const [, paragraph, language, code] of blocks) {
      const named = [...paragraph!.matchAll(/`([^`]+)`/g)].map(([, name]) => `/${name}`);
      const sources = namesIn(EXAMPLES)
        .filter((file) => file.endsWith(language!) && named.some((name) => file.endsWith(name)))
        .map((file) => read(`${EXAMPLES}/${file}`));
      expect(sources, paragraph).toContain(code);
    }
  });

  it.each(['React and Vite', 'Next.js', 'Vue', 'Svelte', 'Astro'])('has a section: %s', (name) => {
    expect(page).toContain(`\n## ${name}\n`);
  });
});

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}
const readManifest = (file: string) => JSON.parse(read(file)) as Manifest;

// They are built from this one install, and not each from an install of its own.
it.each(readdirSync(`${ROOT}${EXAMPLES}`))(
  '%s is built with the versions that it names',
  (name) => {
    const installed = readManifest('packed/package.json').dependencies!;
    const { dependencies, devDependencies } = readManifest(`${EXAMPLES}/${name}/package.json`);
    const { 'analytics-outbox': ours, ...others } = { ...dependencies, ...devDependencies };
    expect(ours).toBe('file:../../..');
    const found = Object.keys(others).map((other) => [other, `^${installed[other]}`]);
    expect(others).toEqual(Object.fromEntries(found));
  },
);
