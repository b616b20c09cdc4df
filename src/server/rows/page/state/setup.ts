import { STEPS, type SetupState, type Step } from '../../../setup.js';

/**
 * `skipped`: a later step was passed without it, as by a site that brings the snippet in its own bundle. `next`: the
 * first that is to come. `failing`: the same, and something was refused there.
 */
export type StepState = 'done' | 'skipped' | 'next' | 'failing' | 'later';

export const stepStates = ({ steps, problem }: SetupState): Record<Step, StepState> => {
  const last = Math.max(...STEPS.map((name, at) => (steps[name] ? at : -1)));
  const stateAt = (name: Step, at: number): StepState => {
    if (steps[name]) return 'done';
    if (at < last) return 'skipped';
    if (at > last + 1) return 'later';
    return problem ? 'failing' : 'next';
  };
  return Object.fromEntries(STEPS.map((name, at) => [name, stateAt(name, at)])) as Record<
    Step,
    StepState
  >;
};
