import type { ServerError } from '../relay.js';
import type { Log } from './log.js';

type Kind = ServerError['kind'];

/**
 * Writes a line when a trouble begins and one when it is over. Relay and consumer each tell of the store and the
 * service that they share, so a trouble may begin twice before it ends.
 */
export const createTroubleLog = (log: Log, inWords: (message: string) => string) => {
  /** How many tell of a trouble now. */
  const tellers = new Map<Kind, number>();
  const change = (kind: Kind, by: number): number => {
    const count = (tellers.get(kind) ?? 0) + by;
    tellers.set(kind, count);
    return count;
  };

  const onError = ({ kind, message }: { kind: Kind; message: string }): void => {
    const isFirst = !ENDING.includes(kind) || change(kind, 1) === 1;
    if (isFirst) log.error(`${kind}: ${inWords(message)}`);
  };
  const onRecovery = ({ kind, lastedMs }: { kind: Kind; lastedMs: number }): void => {
    if (change(kind, -1) === 0)
      log.error(`${kind}: over after ${Math.round(lastedMs / 100) / 10} s`);
  };
  return { onError, onRecovery };
};

/** The troubles whose end is told. */
const ENDING: readonly Kind[] = [
  ...(['setup', 'unreachable', 'service', 'records', 'token', 'queue'] as const),
  ...(['store', 'reading'] as const),
];
