import { outcomeOf } from '../interface/outcome.js';
import type { OnMetric } from '../relay.js';

/** Counts what passes, and says it in one line. */
export const createTrafficLog = () => {
  const counts = { in: new Map<string, number>(), out: new Map<string, number>() };
  const queue = { waiting: 0, dead: 0 };

  const add = (side: Map<string, number>, outcome: string, count: number): void =>
    void side.set(outcome, (side.get(outcome) ?? 0) + count);
  const count =
    (side: Map<string, number>): OnMetric =>
    (name, value, labels) => {
      if (name === 'queue_waiting') queue.waiting = value;
      if (name === 'queue_dead') queue.dead = value;
      if (name === 'records') add(side, labels?.['outcome'] ?? '', value);
    };
  const inWords = (side: Map<string, number>): string =>
    [...side]
      .sort()
      .map(([outcome, number]) => `${number} ${outcome}`)
      .join(', ') || 'nothing';

  return {
    /** For `createRelay`. */
    onRelayMetric: count(counts.in),
    /** For an answer to a record that came without a relay. */
    onDirect: ({ status }: Response): void => add(counts.in, outcomeOf(status, ''), 1),
    /** For `createConsumer`. */
    onConsumerMetric: count(counts.out),
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
