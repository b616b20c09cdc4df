import { spawn } from 'node:child_process';

const STOPS_WITHIN_MS = 5_000;
const SPEAKS_WITHIN_MS = 60_000;
/** Of what a program says, to be shown when it fails. */
const KEPT_CHARACTERS = 20_000;

export interface ProgramOptions {
  command: readonly string[];
  folder: string;
  env: NodeJS.ProcessEnv;
}

export type Program = ReturnType<typeof startProgram>;

/** Starts a program in a process group of its own, so that what it starts ends with it. */
export const startProgram = ({ command, folder, env }: ProgramOptions) => {
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    ...{ cwd: folder, env: { ...process.env, ...env }, detached: true },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let isAlive = true;
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
    child.once('error', (error) => {
      output += error.message;
      resolve(-1);
    });
  });
  void ended.then(() => (isAlive = false));
  const heard = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_CHARACTERS);
      heard.forEach((listener) => listener());
    });
  }

  const signal = (name: NodeJS.Signals): void => {
    try {
      if (child.pid) process.kill(-child.pid, name);
    } catch {
      // ESRCH: all of the group has ended.
    }
  };

  return {
    pid: child.pid!,
    output: () => `${command.join(' ')}:\n${output}`,
    isAlive: () => isAlive,
    /** Settles with its exit code. */
    ended,
    /** Settles with the match as soon as the program has said it. */
    says: (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const fail = (why: string) =>
          reject(new Error(`${file} ${why}, without ${pattern}:\n${output}`));
        const timer = setTimeout(() => fail('is silent'), SPEAKS_WITHIN_MS);
        const look = () => {
          const match = pattern.exec(output);
          if (!match) return;
          clearTimeout(timer);
          heard.delete(look);
          resolve(match);
        };
        void ended.then((code) => {
          clearTimeout(timer);
          fail(`ended with ${code}`);
        });
        heard.add(look);
        look();
      }),
    signal,
    kill: async () => {
      signal('SIGKILL');
      await ended;
    },
    stop: async () => {
      const timer = setTimeout(() => signal('SIGKILL'), STOPS_WITHIN_MS);
      signal('SIGTERM');
      await ended;
      clearTimeout(timer);
      signal('SIGKILL');
    },
  };
};

/** Runs a program to its end; throws with what it said where it fails. */
export const runProgram = async (options: ProgramOptions): Promise<void> => {
  const program = startProgram(options);
  if ((await program.ended) !== 0) throw new Error(program.output());
};
