import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ROOT } from './install.js';

interface Manifest {
  name: string;
  version: string;
  homepage: string;
  bugs: string;
  repository: { url: string };
  engines: { node: string };
  unpkg: string;
  jsdelivr: string;
  exports: Record<string, unknown>;
  bin: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
}

export const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

/** Names of what is imported or required. */
export const ENTRIES = Object.keys(MANIFEST.exports)
  .filter((path) => !/\.js(on)?$/.test(path))
  .map((path) => posix.join(MANIFEST.name, path));
