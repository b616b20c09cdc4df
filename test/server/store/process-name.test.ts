import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { hasEnded, ownProcess } from '../../../src/server/store/process-name.js';

it.runIf(existsSync('/proc/self/ns/pid'))(
  'tells whether another process of this machine has ended, and says nothing of other machines',
  async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'spawn');
    const [space, ownPid, ownStart] = ownProcess().split(' ');
    const startOf = (pid: number) =>
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19]!;
    const name = `${space} ${child.pid} ${startOf(child.pid!)} and more`;
    expect([hasEnded(name), hasEnded(`${ownProcess()} x`)]).toEqual([false, false]);
    // Its number may have been given to another process.
    expect(hasEnded(`${space} ${ownPid} ${Number(ownStart) - 1}`)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(hasEnded(name)).toBe(true);
    expect(hasEnded(name.replace(space!, 'another-machine'))).toBe(false);
    for (const unknown of ['- - - x', 'a', '']) expect(hasEnded(unknown)).toBe(false);
  },
);
