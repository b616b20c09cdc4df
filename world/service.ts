import type { Dice } from './dice.js';

/** States of a service that stores nothing without saying so. */
export const TRUTHFUL = [
  'well',
  'down',
  'error',
  'busy',
  'hangs',
  'resets',
  'slow',
  'portal',
  'redirect',
  'not found',
  'flaky',
] as const;
/** In these its answer never comes, so that only one that recognises repeats stores each record once. */
export const SILENT = ['hangs after storing', 'resets after storing', 'too slow'] as const;
export type ServiceMode = (typeof TRUTHFUL)[number] | (typeof SILENT)[number];

/** What the service does with one request. */
export interface Treatment {
  stores: boolean;
  /** `undefined`: the connection breaks. `never`: the request hangs. */
  answer: { status: number; body: string; retryAfter?: number | undefined } | 'never' | undefined;
  /** Milliseconds until the answer. */
  takes: number;
}

/** The service always refuses records with this in their name. */
export const BAD = 'bad';

/** Something on the way dislikes records with this in their name, and no others, until all is well. */
export const DISLIKED = 'disliked';

/** Draws what the service does with a request in this state. */
export const treat = (mode: ServiceMode, dice: Dice): Treatment => {
  const takes = dice.between(1, 20);
  const stores = { stores: true, answer: { status: 200, body: '{"success":true}' }, takes };
  const fails = (status: number, retryAfter?: number, body = '') => ({
    stores: false,
    answer: { status, body, retryAfter },
    takes,
  });
  switch (mode) {
    case 'well':
      return stores;
    case 'slow':
      return { ...stores, takes: dice.between(300, 1_500) };
    case 'too slow':
      return { ...stores, takes: dice.between(1_500, 20_000) };
    case 'down':
    case 'resets':
      return { stores: false, answer: undefined, takes };
    case 'resets after storing':
      return { ...stores, answer: undefined };
    case 'hangs':
      return { stores: false, answer: 'never', takes };
    case 'hangs after storing':
      return { ...stores, answer: 'never' };
    case 'error':
      return dice.chance(0.1)
        ? fails(503, dice.between(1, 60))
        : fails(dice.pick([500, 502, 503, 504, 408, 425]));
    case 'busy':
      return fails(429, dice.chance(0.8) ? dice.between(1, 120) : undefined);
    case 'portal':
      return fails(200, 0, '<!doctype html>');
    case 'redirect':
      return fails(302);
    case 'not found':
      return fails(dice.pick([404, 405]));
    case 'flaky':
      return treat(dice.pick(TRUTHFUL.filter((one) => one !== 'flaky' && one !== 'slow')), dice);
  }
};
