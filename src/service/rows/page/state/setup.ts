/** How far the service has come on the way to its first row, as `GET /setup` and the feed tell it. */
export interface Setup {
  /** The script tag to paste. */
  tag?: string;
  /** When each step was first passed, ISO 8601. */
  steps: { file?: string; preflight?: string; accepted?: string; stored?: string };
  /** The last refusal, in words with its fix. */
  problem?: { at: string; message: string };
}

export type StepName = keyof Setup['steps'];

export const STEPS: readonly StepName[] = ['file', 'preflight', 'accepted', 'stored'];

/**
 * `skipped`: a later step was passed without it, as by a site that brings the snippet in its own bundle. `next`: the
 * first that is to come. `failing`: the same, and something was refused there.
 */
export type StepState = 'done' | 'skipped' | 'next' | 'failing' | 'later';

export const stepStates = ({ steps, problem }: Setup): Record<StepName, StepState> => {
  const last = Math.max(...STEPS.map((name, at) => (steps[name] ? at : -1)));
  const stateAt = (name: StepName, at: number): StepState => {
    if (steps[name]) return 'done';
    if (at < last) return 'skipped';
    if (at > last + 1) return 'later';
    return problem ? 'failing' : 'next';
  };
  return Object.fromEntries(STEPS.map((name, at) => [name, stateAt(name, at)])) as Record<
    StepName,
    StepState
  >;
};
