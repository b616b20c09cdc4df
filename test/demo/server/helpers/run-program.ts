import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { TOKEN } from './service-client';

/** Runs the built service as a process of its own, which ends with the test at the latest. */
export function runProgram(file: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, HOST: '', FAULTS: '', TOKEN, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (chunk: Buffer) => (output += chunk.toString());
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const exited = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>;
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });

  /** The address it says it listens at. */
  const url = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const found = /Service +(\S+)\n/.exec(output)?.[1];
      if (found) resolve(found);
    });
    child.on('exit', () => reject(new Error(`The service ended:\n${output}`)));
  });
  url.catch(() => {});

  return {
    url,
    exited,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    output: () => output,
  };
}
