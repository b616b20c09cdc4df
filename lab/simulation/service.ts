import type { Dice } from '../random.js';

/** What state the service is in. */
export const SERVICE_MODES = [
  'well',
  'down',
  'error',
  'busy',
  'hangs',
  'hangs after storing',
  'resets',
  'resets after storing',
  'slow',
  'portal',
  'redirect',
  'not found',
  'flaky',
] as const;
export type ServiceMode = (typeof SERVICE_MODES)[number];

/** What the service does with one request. */
export interface Treatment {
  stores: boolean;
  /** `undefined`: the connection breaks. `never`: the request hangs. */
  answer: { status: number; body: string; retryAfter?: number } | 'never' | undefined;
  /** Milliseconds until the answer. */
  takes: number;
}

/** The service always refuses records with this in their name. */
export const BAD = 'bad';

const good = { status: 200, body: '{"success":true,"message":"ok"}' };

/** Draws what the service does with a request in this state. */
export const treat = (mode: ServiceMode, dice: Dice): Treatment => {
  const takes = dice.between(1, 20);
  switch (mode) {
    case 'well':
      return { stores: true, answer: good, takes };
    case 'down':
      return { stores: false, answer: undefined, takes: 1 };
    case 'error': {
      const status = dice.pick([500, 502, 503, 504, 408, 425]);
      const retryAfter = status === 503 && dice.chance(0.5) ? dice.between(1, 60) : undefined;
      return {
        stores: false,
        answer: { status, body: 'error', ...(retryAfter && { retryAfter }) },
        takes,
      };
    }
    case 'busy': {
      const retryAfter = dice.chance(0.8) ? dice.between(1, 120) : undefined;
      return {
        stores: false,
        answer: { status: 429, body: '', ...(retryAfter && { retryAfter }) },
        takes,
      };
    }
    case 'hangs':
      return { stores: false, answer: 'never', takes };
    case 'hangs after storing':
      return { stores: true, answer: 'never', takes };
    case 'resets':
      return { stores: false, answer: undefined, takes };
    case 'resets after storing':
      return { stores: true, answer: undefined, takes };
    case 'slow':
      return { stores: true, answer: good, takes: dice.between(500, 20_000) };
    case 'portal':
      return { stores: false, answer: { status: 200, body: '<!doctype html>' }, takes };
    case 'redirect':
      return { stores: false, answer: { status: 302, body: '' }, takes };
    case 'not found':
      return { stores: false, answer: { status: dice.pick([404, 405]), body: '' }, takes };
    case 'flaky':
      return treat(
        dice.pick(SERVICE_MODES.filter((one) => one !== 'flaky' && one !== 'slow')),
        dice,
      );
  }
};
