import type { EngineName, BrowserNeeds } from './engine.js';
import type { Stage } from './stage.js';
import type { Promised } from './verdicts.js';

/** A row of the matrix: one thing that goes wrong, and what is promised of it. */
export interface Row {
  id: string;
  group: string;
  /** What happens. */
  what: string;
  promised: Promised;
  /** More for rows where chance decides. @default 5 */
  runs?: number;
  needs?: BrowserNeeds;
  /** Engines that cannot do it, and why. */
  cannot?: Partial<Record<EngineName, string>>;
  /** Why a run of it may be not as promised, where that is known. */
  because?: string;
  /** Milliseconds without a request before the last look. @default 600 */
  quietFor?: number;
  /** Milliseconds until everything must have come to its end. @default 30000 */
  within?: number;
  /** Names of the records it made. */
  run: (stage: Stage) => Promise<readonly string[]>;
}

export const DEFAULT_RUNS = 5;
export const MANY_RUNS = 20;
