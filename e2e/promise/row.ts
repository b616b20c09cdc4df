import type { BrowserNeeds, EngineName } from './engines/engine.js';
import type { Stage } from './stage.js';
import type { Promised } from './verdicts.js';

/** How pages send: straight to the service, the same with `idempotencyKey`, or by a relay. */
export const WAYS = { direct: 'direct', key: 'with keys', relay: 'by relay' } as const;
export type Way = keyof typeof WAYS;

/** A row of the promise: one thing that goes wrong, and what is promised of it. */
export interface Row {
  id: string;
  /** What happens. */
  what: string;
  /** What is promised: of the direct way, or of each way that the row runs in. */
  promised: Promised | Partial<Record<Way, Promised>>;
  /** Engines that promise something else, and why. Those without a promise cannot do it at all. */
  except?: Partial<Record<EngineName, { promised?: Promised; because: string }>>;
  /** Runs in Firefox, too, at each push. */
  isSmoke?: boolean;
  /** Left to the night: test/api holds it as well, or it takes long. With ways, only in these. */
  nightly?: true | readonly Way[];
  needs?: BrowserNeeds;
  /** Milliseconds without a request before the last look. @default 300 */
  quietFor?: number;
  /** Milliseconds until everything must have come to its end. @default 30000 */
  within?: number;
  /** Answers the names of the records that it made. */
  run: (stage: Stage) => Promise<readonly string[]>;
}

/** The ways that a row runs in, each with what is promised there. */
export const waysOf = ({ promised }: Row): [Way, Promised][] =>
  'words' in promised ? [['direct', promised]] : (Object.entries(promised) as [Way, Promised][]);
