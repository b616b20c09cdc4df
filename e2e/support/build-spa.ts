import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FIXTURE = join(ROOT, 'e2e/fixtures/spa');
const OURS = 'analytics-outbox';
/** What the app's own install would bring, beside our package and its dependencies. */
const OF_THE_APP = ['@types', 'react', 'react-dom', 'react-router', 'vite'];

interface Build {
  /** An empty folder, outside of the repository: nothing resolves by accident. */
  folder: string;
  /** In development React's StrictMode runs each effect twice. */
  mode: 'production' | 'development';
}

/** Builds the single-page app with our package as it would be published. Answers with the folder to serve. */
export const buildSpa = ({ folder, mode }: Build): string => {
  cpSync(FIXTURE, folder, { recursive: true });
  install(folder);
  const env = { ...process.env, NODE_ENV: mode };
  runNode(folder, env, 'typescript/bin/tsc', '--project', folder);
  runNode(folder, env, 'vite/bin/vite.js', 'build', '--mode', mode, '--logLevel', 'error');
  return join(folder, 'dist');
};

/** Like `npm install`, without a registry: the tarball unpacked, and the rest from where it is already. */
const install = (folder: string): void => {
  const modules = join(folder, 'node_modules');
  const target = join(modules, OURS);
  mkdirSync(target, { recursive: true });
  // On Windows npm is a script, which only a shell starts.
  const shell = process.platform === 'win32';
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, shell });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'], { cwd: folder });
  for (const name of Object.keys(readManifest().dependencies)) {
    cpSync(join(ROOT, 'node_modules', name), join(modules, name), { recursive: true });
  }
  for (const name of OF_THE_APP) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'junction');
  }
};

const readManifest = () =>
  JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };

const runNode = (folder: string, env: NodeJS.ProcessEnv, program: string, ...args: string[]) => {
  const path = join(ROOT, 'node_modules', program);
  execFileSync(process.execPath, [path, ...args], { cwd: folder, env, stdio: 'inherit' });
};
