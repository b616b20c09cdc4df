import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';

const PERIOD_US = 100_000;

/** Gives a process at most a part of one core. Needs Linux with version 1 of cgroups, and root. */
export function limitCpu(pid, share) {
  const group = `/sys/fs/cgroup/cpu/relay-scale-${pid}`;
  mkdirSync(group);
  writeFileSync(`${group}/cpu.cfs_period_us`, String(PERIOD_US));
  writeFileSync(`${group}/cpu.cfs_quota_us`, String(Math.round(PERIOD_US * share)));
  writeFileSync(`${group}/cgroup.procs`, String(pid));
  /** To be called when the process has ended. */
  return () => rmdirSync(group);
}

/** Milliseconds of CPU that a process has used. */
export function cpuMs(pid) {
  const [, rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = rest.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10; // of 100 ticks a second
}
