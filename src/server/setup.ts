import type { ServiceOptions } from './service-options.js';

/** The steps from nothing to the first row, in their order. */
export const STEPS = ['file', 'preflight', 'accepted', 'stored'] as const;
export type Step = (typeof STEPS)[number];

/** How far a site has come with setting up, in the memory of this process. */
export interface SetupState {
  /** The tag to paste. */
  tag?: string;
  /** File that has a write token. */
  tokenFile?: string;
  /**
   * When each step was first seen: the snippet's file was fetched, a preflight was answered, a token or an origin was
   * accepted, a row was stored.
   */
  steps: Partial<Record<Step, string>>;
  /** The latest refusal, in words with what to do, and the step that it prevented. */
  problem?: { at: string; message: string; step: Step };
}

interface Parts extends Pick<ServiceOptions, 'tag' | 'tokenFile'> {
  now: () => number;
}

export const createSetup = ({ tag, tokenFile, now }: Parts) => {
  const state: SetupState = { ...(tokenFile !== undefined && { tokenFile }), steps: {} };
  const tagNow = (): string | undefined => (typeof tag === 'function' ? tag() : tag);
  const followers = new Set<() => void>();
  const time = (): string => new Date(now()).toISOString();
  const tell = (): void => followers.forEach((follower) => follower());

  return {
    note: (step: Step): void => {
      if (state.steps[step]) return;
      state.steps[step] = time();
      tell();
    },
    failed: (step: Step, message: string): void => {
      state.problem = { at: time(), message, step };
      tell();
    },
    state: (): SetupState => {
      const text = tagNow();
      return { ...(text !== undefined && { tag: text }), ...state };
    },
    follow: (follower: () => void): (() => void) => {
      followers.add(follower);
      return () => void followers.delete(follower);
    },
  };
};

export type Setup = ReturnType<typeof createSetup>;
