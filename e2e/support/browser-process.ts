import { childrenOf, listProcesses, type Process } from '../../test/support/processes.mjs';

/**
 * Kills the browser that this process started on a profile folder, children and all, as a power cut
 * would. Playwright starts each browser as the leader of a process group.
 */
export const killBrowser = (profileFolder: string): void => {
  const { pid } = browserOn(profileFolder, listProcesses());
  process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
};

/**
 * Kills the processes of a browser on a profile folder whose command line fits, such as those that run
 * its pages, and answers how many there were.
 */
export const killParts = (profileFolder: string, isPart: RegExp): number => {
  const all = listProcesses();
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
  const all = listProcesses();
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

// Playwright keeps the process of a persistent context to itself.
const browserOn = (profileFolder: string, all: readonly Process[]): Process => {
  const browser = all.find(
    ({ parent, command }) => parent === process.pid && command.includes(profileFolder),
  );
  if (!browser) throw new Error('No browser of ours runs on this profile');
  return browser;
};
