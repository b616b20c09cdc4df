import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const ROOT = new URL('../', import.meta.url);
const FOLDER = new URL('demo/examples/', ROOT);
const read = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');
const readManifest = (file: string) => JSON.parse(read(file)) as Manifest;

describe('an example', () => {
  // They are built from this one install, and not each from an install of its own.
  const installed = readManifest('packed/package.json').dependencies!;

  it.each(readdirSync(FOLDER))('is built with the versions that it names: %s', (name) => {
    const { dependencies, devDependencies } = readManifest(`demo/examples/${name}/package.json`);
    const { 'analytics-outbox': ours, ...others } = { ...dependencies, ...devDependencies };
    expect(ours).toBe('file:../../..');
    const found = Object.keys(others).map((other) => [other, `^${installed[other]}`]);
    expect(others).toEqual(Object.fromEntries(found));
  });
});

describe('the page about frameworks', () => {
  const page = read('docs/frameworks.md');
  // The paragraph before each block names the file.
  const blocks = [...page.matchAll(/^(.+)\n\n```(\w+)\n([^]*?)^```$/gm)];

  it('shows nothing but files of the examples, as they are built', () => {
    expect(blocks).toHaveLength(page.match(/^```\w+$/gm)!.length);
    const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).map((file) =>
      file.replaceAll('\\', '/'),
    );
    for (const [, paragraph, language, code] of blocks) {
      const named = [...paragraph!.matchAll(/`([^`]+)`/g)].map(([, name]) => `/${name}`);
      const sources = files
        .filter((file) => file.endsWith(language!) && named.some((name) => file.endsWith(name)))
        .map((file) => read(`demo/examples/${file}`));
      expect(sources, paragraph).toContain(code);
    }
  });

  it('has a section for each example', () => {
    for (const name of ['React and Vite', 'Next.js', 'Vue', 'Svelte', 'Astro']) {
      expect(page).toContain(`\n## ${name}\n`);
    }
  });
});
