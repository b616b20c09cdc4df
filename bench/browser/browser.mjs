import { readdirSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright';
import { findChromium } from '../../e2e/support/find-browser.mjs';

/**
 * A fresh browser profile with a page on the bench site, and eyes on its cost. The site has a name of its own: on a
 * local host the tag would load the developers' file, too.
 */
export const openBrowser = async (site) => {
  const executablePath = findChromium();
  const browser = await chromium.launch({
    executablePath,
    args: [
      '--js-flags=--expose-gc',
      '--enable-precise-memory-info',
      '--host-resolver-rules=MAP *.example 127.0.0.1',
      `--unsafely-treat-insecure-origin-as-secure=${new URL(site).origin}`,
    ],
  });
  const context = await browser.newContext();
  const open = async () => {
    const page = await context.newPage();
    await page.goto(site);
    const cdp = await context.newCDPSession(page);
    await watchTasks(cdp);
    return { page, cdp };
  };
  return { browser, open, version: browser.version() };
};

/** Counts the time that the main thread's tasks are on the processor, not that in which they wait for one. */
export const watchTasks = (cdp) => cdp.send('Performance.enable', { timeDomain: 'threadTicks' });

/** Main-thread task time of a page so far, milliseconds. */
export const taskTime = async (cdp) => {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
};

const TICK_MS = 10;

/** CPU time of each process below this one but for the bench server, milliseconds (Linux only). */
const cpuTimes = (excluded) => {
  const processes = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      processes.set(Number(name), {
        parent: Number(fields[1]),
        ms: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
      });
    } catch {
      // gone while we looked
    }
  }
  const isBelow = (pid) => {
    if (pid === process.pid) return true;
    const parent = processes.get(pid)?.parent;
    return parent ? isBelow(parent) : false;
  };
  const ours = [...processes].filter(
    ([pid]) => pid !== process.pid && !excluded.includes(pid) && isBelow(pid),
  );
  return new Map(ours.map(([pid, { ms }]) => [pid, ms]));
};

/**
 * Starts to measure. The answer says how much CPU time the browser's processes have taken since. Those that
 * have ended meanwhile do not count: they are what is left of an earlier page.
 */
export const startCpu = (excluded) => {
  const before = cpuTimes(excluded);
  return () =>
    [...cpuTimes(excluded)].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
};

/** Durations of main-thread tasks in which a script of this name ran, milliseconds, longest first. */
export const tasksOf = async (browser, page, script, run) => {
  await browser.startTracing(page, {
    categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel'],
  });
  await run();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const ours = traceEvents.filter(
    ({ args }) => args?.data?.url?.includes(script) || args?.data?.fileName?.includes(script),
  );
  // Not those of a pool's thread, where the script is compiled: `ThreadPool_RunTask`.
  const tasks = traceEvents.filter(({ name, dur }) => name === 'RunTask' && dur > 0);
  const found = new Set();
  for (const { ts, tid, pid } of ours) {
    const task = tasks.find(
      (t) => t.pid === pid && t.tid === tid && t.ts <= ts && ts <= t.ts + t.dur,
    );
    if (task) found.add(task);
  }
  return [...found].map(({ dur }) => dur / 1000).sort((a, b) => b - a);
};
