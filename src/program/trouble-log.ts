import type { ServerError } from '../relay.js';
import type { Log } from './log.js';

type Kind = ServerError['kind'];

/**
 * Writes a line when a trouble begins and one when it is over. Several parts may report a trouble of the same kind, so one
 * may begin twice before it ends.
 */
export const createTroubleLog = (log: Log, inWords: (message: string) => string) => {
  /** How many parts report a trouble now. */
  const reporters = new Map<Kind, number>();
  const change = (kind: Kind, by: number): number => {
    const count = (reporters.get(kind) ?? 0) + by;
    reporters.set(kind, count);
    return count;
  };

  const onError = ({ kind, message }: { kind: Kind; message: string }): void => {
    const isFirst = ENDLESS.includes(kind) || change(kind, 1) === 1;
    if (isFirst) log.error(`${kind}: ${inWords(message)}`);
  };
  const onRecovery = ({ kind, lastedMs }: { kind: Kind; lastedMs: number }): void => {
    if (change(kind, -1) === 0)
      log.error(`${kind}: over after ${Math.round(lastedMs / 100) / 10} s`);
  };
  return { onError, onRecovery };
};

/** Errors that happen once, so that they have no end. */
const ENDLESS: readonly Kind[] = ['unlisted', 'dropped', 'erasure', 'hook', 'fault'];
