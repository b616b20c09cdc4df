import { STEPS, type SetupState, type Step } from '../../../setup.js';

/**
 * `skipped`: a later step was reached without it, as by a site that brings the snippet in its own bundle. `next`: the
 * first that is to come. `failing`: the latest refusal was at this step, which nothing has passed yet.
 */
export type StepState = 'done' | 'skipped' | 'next' | 'failing' | 'later';

/** The steps that the tag leads through, and how each stands. A page that sends to a relay asks for no preflight. */
export const stepStates = ({
  tag = '',
  steps,
  problem,
}: SetupState): { name: Step; state: StepState }[] => {
  const names = STEPS.filter(
    (name) => name !== 'preflight' || steps.preflight || !tag.includes('data-relay='),
  );
  const failed = names.findIndex((name) => name === problem?.step && !steps[name]);
  const reached = Math.max(failed, ...names.map((name, at) => (steps[name] ? at : -1)));
  const isStuck = failed >= 0 && failed === reached;
  const stateAt = (name: Step, at: number): StepState => {
    if (steps[name]) return 'done';
    if (at === failed) return 'failing';
    if (at < reached) return 'skipped';
    return at === reached + 1 && !isStuck ? 'next' : 'later';
  };
  return names.map((name, at) => ({ name, state: stateAt(name, at) }));
};

/** A request that stores a first row. */
export interface TestEvent {
  address: string;
  headers: Record<string, string>;
  body: { project: string; channel: string } & Record<string, unknown>;
}

/** The event that a page with this tag would send; undefined if this page may not send it, or the tag says too little. */
export const testOf = (tag: string | undefined, origin: string): TestEvent | undefined => {
  const given = (name: string): string | undefined =>
    new RegExp(`data-${name}="([^"]+)"`).exec(tag ?? '')?.[1];
  const [project, channel, relay, token] = [
    ...[given('project'), given('channel'), given('relay'), given('token')],
  ];
  const base = relay ?? given('base-url');
  if (!project || !channel || !base || (relay === undefined && !token)) return undefined;
  const address = new URL(base, origin);
  // The page's policy lets it ask its own service only.
  if (address.origin !== origin) return undefined;
  const event = 'Test Event';
  return {
    address: `${address.href.replace(/\/$/, '')}/v1/event`,
    headers: {
      'content-type': 'application/json',
      ...(relay === undefined && { authorization: `Bearer ${token}` }),
    },
    body: { project, channel, event, icon: '👋', tags: { sent_from: 'rows' } },
  };
};
