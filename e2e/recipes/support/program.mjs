import { spawn } from 'node:child_process';

const STOPS_WITHIN_MS = 5_000;
const SPEAKS_WITHIN_MS = 30_000;
/** Of what a program says, to be shown when it fails. */
const KEPT_CHARACTERS = 20_000;

/** Starts a program in a process group of its own, so that what it starts ends with it. */
export function startProgram({ command: [file, ...args], folder, env }) {
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', (error) => {
      output += error.message;
      resolve(-1);
    });
  });
  let isAlive = true;
  void ended.then(() => (isAlive = false));
  const heard = new Set();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-KEPT_CHARACTERS);
      heard.forEach((listener) => listener());
    });
  }

  const signalGroup = (signal) => {
    try {
      if (child.pid) process.kill(-child.pid, signal);
    } catch {
      // ESRCH: all of the group has ended.
    }
  };

  return {
    output: () => `${file} ${args.join(' ')}:\n${output}`,
    isAlive: () => isAlive,
    /** Settles with its exit code. */
    ended,
    /** Settles with the match as soon as the program has said it. */
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const fail = (why) => reject(new Error(`${file} ${why}, without ${pattern}:\n${output}`));
        const timer = setTimeout(() => fail('is silent'), SPEAKS_WITHIN_MS);
        const look = () => {
          const match = pattern.exec(output);
          if (!match) return;
          clearTimeout(timer);
          heard.delete(look);
          resolve(match);
        };
        void ended.then((code) => fail(`ended with ${code}`));
        heard.add(look);
        look();
      }),
    signal: signalGroup,
    kill: async () => {
      signalGroup('SIGKILL');
      await ended;
    },
    stop: async () => {
      const timer = setTimeout(() => signalGroup('SIGKILL'), STOPS_WITHIN_MS);
      signalGroup('SIGTERM');
      await ended;
      clearTimeout(timer);
      signalGroup('SIGKILL');
    },
  };
}

/** Runs a program to its end; throws with what it said where it fails. */
export async function runProgram(options) {
  const program = startProgram(options);
  if ((await program.ended) !== 0) throw new Error(program.output());
}
