/** The processes of this machine. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const fromProc = () =>
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

const fromPs = () =>
  execFileSync('ps', ['-axww', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return command ? [{ pid: Number(pid), parent: Number(parent), command, name: '' }] : [];
    });

/** All that run now. A bare Debian has no `ps`. */
export const listProcesses = () => (existsSync('/proc/self/stat') ? fromProc() : fromPs());

/** The children of a process, and theirs. */
export const childrenOf = (pid, all = listProcesses()) =>
  all
    .filter(({ parent }) => parent === pid)
    .flatMap((child) => [child, ...childrenOf(child.pid, all)]);
