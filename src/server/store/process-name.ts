import { readFileSync, readlinkSync } from 'node:fs';

/** The start time of a process, in ticks since the machine started. https://man7.org/linux/man-pages/man5/proc.5.html */
const startOf = (pid: number | 'self'): string =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19]!;

/** What numbers processes: this start of the machine, and a container of it. */
const readSpace = (): string =>
  `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`;

let own: string | undefined;
/**
 * A name of this process, by which others on the same machine can tell whether it still runs. Where that cannot be told,
 * as on a system without `/proc`, the name says nothing.
 */
export const ownProcess = (): string => {
  try {
    own ??= `${readSpace()} ${process.pid} ${startOf('self')}`;
  } catch {
    own = '- - -';
  }
  return own;
};

/** Whether a process of this machine, whose name the text begins with, has ended. False if that cannot be told. */
export const hasEnded = (text: string): boolean => {
  const [space, pid, start] = text.split(' ');
  if (space === '-' || space !== ownProcess().split(' ')[0]) return false;
  try {
    return startOf(Number(pid)) !== start;
  } catch {
    return true;
  }
};
