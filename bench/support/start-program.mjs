import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Runs a program of Node's that prints its address. */
export async function startProgram(file, env, args = []) {
  const { HOST: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...inherited, FAULTS: '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = async (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    // Where it passes records on is not where it listens.
    const url = /(?<!passes on to )http:\S+/.exec(line)?.[0];
    if (!url) continue;
    child.stdout.resume(); // what it says later must not fill the pipe
    return {
      url,
      pid: child.pid,
      isAlive: () => child.exitCode === null && child.signalCode === null,
      kill: () => end('SIGKILL'),
      stop: () => end('SIGTERM'),
    };
  }
  throw new Error(`${file} did not start`);
}
