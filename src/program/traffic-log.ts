import type { OnMetric } from '../relay.js';

/** Counts what passes, and says it in one line. */
export const createTrafficLog = () => {
  const counts = { in: new Map<string, number>(), out: new Map<string, number>() };
  const queue = { waiting: 0, dead: 0 };

  const inWords = (side: Map<string, number>): string =>
    [...side]
      .sort()
      .map(([outcome, number]) => `${number} ${outcome}`)
      .join(', ') || 'nothing';

  const onMetric: OnMetric = (name, value, labels) => {
    if (name === 'queue_waiting') queue.waiting = value;
    if (name === 'queue_dead') queue.dead = value;
    if (name !== 'records') return;
    const { side, outcome = '' } = labels ?? {};
    const ofSide = side === 'out' ? counts.out : counts.in;
    ofSide.set(outcome, (ofSide.get(outcome) ?? 0) + value);
  };

  return {
    /** For a server and its consumer. */
    onMetric,
    /** The line for what has passed since the last one. */
    line: (): string => {
      const { waiting, dead } = queue;
      const text = `in: ${inWords(counts.in)}; out: ${inWords(counts.out)}; ${waiting} waiting, ${dead} dead`;
      counts.in.clear();
      counts.out.clear();
      return text;
    },
  };
};
