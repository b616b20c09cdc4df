import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ROOT } from '../support/compile.js';

const LONG_MS = 180_000;

const filesOf = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { size, mtimeMs } = statSync(join(ROOT, folder, name));
      return { name: `${folder}/${name}`, size, mtimeMs };
    });

it.runIf(existsSync(join(ROOT, 'dist/outbox.js')))(
  'leaves the last build whole when it is broken off',
  { timeout: LONG_MS },
  async () => {
    const built = () => ['dist', 'demo/dist'].flatMap(filesOf);
    const before = built();
    const build = spawn(process.execPath, ['scripts/build.mjs'], { cwd: ROOT, stdio: 'ignore' });
    onTestFinished(() => void build.kill());
    const ended = once(build, 'exit');
    const isWriting = () => existsSync(join(ROOT, 'dist.new'));
    await vi.waitFor(() => expect(isWriting()).toBe(true), { timeout: LONG_MS });
    build.kill();
    await ended;
    expect(built()).toEqual(before);
  },
);
