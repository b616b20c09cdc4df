import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';

const SOURCES = 'src';
/** An import or export that is there at runtime, and the file that it names. */
const RUNTIME = /^(?:import|export) (?!type )(?:[^;'"]*? from )?['"](\.[^'"]+)['"]/gm;

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => /\.tsx?$/.test(name));

const importsOf = (file: string): string[] =>
  [...readFileSync(join(SOURCES, file), 'utf8').matchAll(RUNTIME)].map(([, path]) => {
    const target = posix.join(posix.dirname(file), path!).replace(/\.js$/, '');
    return files.find((name) => name.replace(/\.tsx?$/, '') === target) ?? target;
  });

it('no file imports itself, by way of others', () => {
  const graph = new Map(files.map((file) => [file, importsOf(file)]));
  expect([...graph.values()].flat().length).toBeGreaterThan(files.length);
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    expect(path, `${path.join(' → ')} → ${file}`).not.toContain(file);
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) walk(next, [...path, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
});
