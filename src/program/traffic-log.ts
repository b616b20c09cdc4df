import type { OnMetric } from '../relay.js';

/** Routes of requests with records, below the path for pages and elsewhere. */
const INTAKE = /^(?:\/v1\/)?(?:batch|identify|event)$/;

const inWords = (counts: Map<string, number>, between: string): string =>
  [...counts]
    .sort()
    .map(([name, number]) => `${number}${between}${name}`)
    .join(', ');

/** Counts records and refused requests, and gives the counts as one line. */
export const createTrafficLog = ({ passesOn }: { passesOn: boolean }) => {
  const counts = {
    in: new Map<string, number>(),
    out: new Map<string, number>(),
    /** Requests by their status. Their records were not read, so they are not counted. */
    refused: new Map<string, number>(),
  };
  /** How far targets of exports are behind. */
  const behind = new Map<string, { rows: number; seconds: number }>();

  const onMetric: OnMetric = (
    name,
    value,
    { side, outcome = '', route = '', status = '', target = '' } = {},
  ) => {
    const add = (to: Map<string, number>, key: string) => to.set(key, (to.get(key) ?? 0) + value);
    if (name === 'export_behind') behind.set(target, { rows: value, seconds: 0 });
    if (name === 'export_delay_ms' && behind.has(target))
      behind.get(target)!.seconds = Math.round(value / 1_000);
    if (name === 'records') add(side === 'out' ? counts.out : counts.in, outcome);
    if (name === 'requests' && INTAKE.test(route) && Number(status) >= 400)
      add(counts.refused, status);
  };

  return {
    onMetric,
    /** The counts since the last line. */
    line: (): string => {
      const parts = [`in: ${inWords(counts.in, ' ') || 'nothing'}`];
      if (counts.refused.size) parts.push(`requests refused: ${inWords(counts.refused, ' × ')}`);
      if (passesOn) parts.push(`out: ${inWords(counts.out, ' ') || 'nothing'}`);
      for (const [target, { rows, seconds }] of behind)
        if (rows) parts.push(`${target} is ${rows} rows and ${seconds} s behind`);
      for (const side of Object.values(counts)) side.clear();
      return parts.join('; ');
    },
  };
};
