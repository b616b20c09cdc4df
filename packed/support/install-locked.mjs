import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Installs what the lock in `source` names into `folder`, unless that is what is there. */
export function installLocked({ source, folder, megabytes }) {
  const lock = readFileSync(join(source, 'package-lock.json'), 'utf8');
  /** Which lock the modules were installed from; `npm ci` takes it away with them. */
  const mark = join(folder, 'node_modules/.installed-from');
  if (readIfThere(mark) === lock) return;
  console.log(`installing ${megabytes} MB into ${folder}`);
  mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) {
    writeFileSync(join(folder, name), readFileSync(join(source, name)));
  }
  npm(folder, 'ci');
  writeFileSync(mark, lock);
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // nothing installed yet, or not to its end
  }
}

export function npm(folder, ...args) {
  const all = [...args, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  try {
    execFileSync('npm', all, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      shell: process.platform === 'win32', // where npm is a script
    });
  } catch (error) {
    throw new Error(
      `\`npm ${args.join(' ')}\` failed in ${folder}. It needs a registry; ` +
        `RECIPES=skip leaves out what does.\n${error.stderr ?? error.message}`,
      { cause: error },
    );
  }
}
