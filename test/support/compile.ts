import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Problem {
  /** The name of the file; empty for what is wrong with the options. */
  file: string;
  /** From 1. */
  line: number;
  message: string;
}

/** Writes files by their names, in place of all that the folder has had. */
const writeFiles = (folder: string, files: Readonly<Record<string, string>>): void => {
  rmSync(folder, { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
};

/**
 * What the compiler says of files that stand in a folder of their own, two below that of the project. All at once, since
 * it reads the libraries anew for each run.
 * @param config what their `tsconfig.json` has
 */
export const compile = (
  name: string,
  files: Readonly<Record<string, string>>,
  config: { extends?: string; compilerOptions?: object; files?: string[]; include?: string[] },
): Problem[] => {
  const folder = join(ROOT, '.tmp', name);
  writeFiles(folder, { ...files, 'tsconfig.json': JSON.stringify(config) });
  const compiler = join(ROOT, 'node_modules/typescript-7/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  // Further lines of a message are indented.
  return stdout
    .split(/\n(?! )/)
    .filter(Boolean)
    .map((text) => {
      const [, file = '', line = 0, message = text] =
        /^(\S+)\((\d+),\d+\): ([^]*)$/.exec(text) ?? [];
      return { file, line: Number(line), message };
    });
};
