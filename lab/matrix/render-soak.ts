import type { Soak } from './results.js';
import { table } from './table.js';

const mega = (bytes: number): string => (bytes / 1e6).toFixed(2);

/** The samples at even distances, first and last among them. */
const some = <Value>(values: readonly Value[], count: number): Value[] =>
  values.length <= count
    ? [...values]
    : Array.from(
        { length: count },
        (_, i) => values[Math.round((i * (values.length - 1)) / (count - 1))]!,
      );

export const renderSoak = (soak: Soak | undefined): string => {
  if (!soak) return 'Not run yet.';
  const { minutes, calls, fates, faults, samples, problems, version, date } = soak;
  const { once, twice, never } = fates;
  const rows = some(samples, 11).map((sample) => [
    String(Math.round(sample.seconds)),
    mega(sample.heapBytes),
    String(sample.listeners),
    String(sample.nodes),
    mega(sample.storageBytes),
    String(sample.records),
    String(sample.keys),
    String(sample.waiting),
  ]);
  const made = Object.entries(faults).map(([name, count]) => `${name} ${count}`);
  return `${minutes} minutes in Chromium ${version}, ${date}: ${calls} calls at 20 a second, with a fault drawn every few seconds (${made.join(', ')}). At the end: ${once} once, ${twice} twice, ${never} never. Good guest: ${problems.length ? problems.join('; ') : 'no problem'}.

Heap after a forced collection; storage as the browser estimates it; records as they stand in the outbox. ${samples.length} samples, of which some:

${table(['s', 'heap MB', 'listeners', 'nodes', 'storage MB', 'records', 'keys', 'waiting'], rows)}

\`npm run soak -- --minutes 10\``;
};
