/** Where a page keeps the milliseconds of our scripts' runs within long frames. */
export const TASKS = 'analytics-outbox.own-tasks';

interface LongFrame extends PerformanceEntry {
  scripts?: { sourceURL: string; duration: number }[];
}

/** Notes how long the snippet held up frames, where the browser tells. It stands alone, and may run twice. */
export const watchTasks = (): void => {
  const key = Symbol.for('analytics-outbox.own-tasks');
  const kept = window as unknown as Record<symbol, number[]>;
  const { supportedEntryTypes = [] } = PerformanceObserver;
  if (kept[key] || !supportedEntryTypes.includes('long-animation-frame')) return;
  const tasks: number[] = [];
  Object.defineProperty(window, key, { value: tasks });
  new PerformanceObserver((list) => {
    for (const { scripts = [] } of list.getEntries() as LongFrame[]) {
      for (const { sourceURL, duration } of scripts) {
        if (sourceURL.includes('/dist/outbox')) tasks.push(duration);
      }
    }
  }).observe({ type: 'long-animation-frame', buffered: true });
};
