import type { FaultRule } from '../../server/faults/fault-rule.js';
import type { Caller } from '../calls/caller.js';
import type { Setup } from '../setup.js';

/** What a scene can use. */
export interface Stage {
  caller: Caller;
  setup: Setup;
  setFaults: (rules: readonly FaultRule[]) => Promise<unknown>;
}

/** Plays itself, and says in a sentence what is to be seen. Reads its form's numbers by name. */
export type Scene = (stage: Stage, number: (name: string) => number) => Promise<string> | string;
