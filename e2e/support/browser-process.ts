import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

interface Process {
  pid: number;
  parent: number;
  command: string;
  /** What it calls itself, where the system tells. */
  name: string;
}

/**
 * Kills the browser that this process started on a profile folder, children and all, as a power cut
 * would. Playwright starts each browser as the leader of a process group.
 */
export const killBrowser = (profileFolder: string): void => {
  const { pid } = browserOn(profileFolder, processes());
  process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
};

/**
 * Kills the processes of a browser on a profile folder whose command line fits, such as those that run
 * its pages, and answers how many there were.
 */
export const killParts = (profileFolder: string, isPart: RegExp): number => {
  const all = processes();
  const parts = childrenOf(browserOn(profileFolder, all).pid, all).filter(({ command }) =>
    isPart.test(command),
  );
  for (const { pid } of parts) killOne(pid);
  return parts.length;
};

/** Kills a process, if it has not ended by itself. */
const killOne = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/**
 * Stops the processes of a browser on a profile folder that call themselves so, or the oldest few of them,
 * until the function that it answers lets them go on.
 */
export const stopParts = (profileFolder: string, name: string, count = Infinity): (() => void) => {
  const all = processes();
  const parts = childrenOf(browserOn(profileFolder, all).pid, all)
    .filter((part) => part.name === name)
    .sort((a, b) => a.pid - b.pid)
    .slice(0, count);
  if (parts.length === 0) throw new Error(`No process calls itself ${name}`);
  const signal = (signal: 'SIGSTOP' | 'SIGCONT') => {
    for (const { pid } of parts) process.kill(pid, signal);
  };
  signal('SIGSTOP');
  return () => signal('SIGCONT');
};

const browserOn = (profileFolder: string, all: readonly Process[]): Process => {
  const browser = all.find(
    ({ parent, command }) => parent === process.pid && command.includes(profileFolder),
  );
  if (!browser) throw new Error('No browser of ours runs on this profile');
  return browser;
};

const childrenOf = (pid: number, all: readonly Process[]): Process[] =>
  all
    .filter(({ parent }) => parent === pid)
    .flatMap((child) => [child, ...childrenOf(child.pid, all)]);

// Playwright keeps the process of a persistent context to itself. A bare Debian has no `ps`.
const processes = (): Process[] => (existsSync('/proc/self/stat') ? fromProc() : fromPs());

const fromProc = (): Process[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        // `pid (name, which may hold spaces) state ppid …`
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const end = stat.lastIndexOf(')');
        const processName = stat.slice(stat.indexOf('(') + 1, end);
        const parent = Number(stat.slice(end + 2).split(' ')[1]);
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid: Number(name), parent, command, name: processName }];
      } catch {
        // It ended while we looked.
        return [];
      }
    });

const fromPs = (): Process[] =>
  execFileSync('ps', ['-axww', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return command ? [{ pid: Number(pid), parent: Number(parent), command, name: '' }] : [];
    });
