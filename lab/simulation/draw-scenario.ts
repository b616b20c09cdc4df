import { createDice, type Dice } from '../random.js';
import type { Action, Call, Scenario, Setup } from './scenario.js';
import { BAD, SERVICE_MODES } from './service.js';

const USERS = ['ada', 'bob'];

const WEIGHTS: Record<Action['do'], number> = {
  call: 36,
  open: 6,
  leave: 5,
  navigate: 4,
  cache: 3,
  return: 3,
  evict: 1,
  kill: 4,
  'kill browser': 1.5,
  freeze: 2,
  thaw: 2,
  hide: 3,
  show: 3,
  service: 9,
  network: 3,
  budget: 1,
  storage: 2.5,
  'close storage': 1,
  'clear storage': 0.4,
  shelf: 0.6,
  'foreign record': 0.5,
  clock: 1.2,
  flush: 2,
  reset: 1,
  consent: 1.2,
  destination: 1.2,
  token: 1,
};

const HOUR = 3_600_000;

/** Milliseconds until something else happens. */
const drawGap = (dice: Dice): number => {
  switch (dice.weigh({ none: 3, task: 5, moment: 6, seconds: 5, minute: 2, long: 0.6 })) {
    case 'none':
      return 0;
    case 'task':
      return dice.between(1, 12);
    case 'moment':
      return dice.between(5, 400);
    case 'seconds':
      return dice.between(400, 8_000);
    case 'minute':
      return dice.between(8_000, 90_000);
    case 'long':
      return dice.chance(0.8) ? dice.between(90_000, 600_000) : dice.between(600_000, 2 * HOUR);
  }
};

const drawSetup = (dice: Dice): Setup => ({
  engine: dice.pick(['chromium', 'firefox', 'webkit']),
  way: dice.weigh({ direct: 5, keyed: 3, relay: 4 }),
  hasIdleCallback: dice.chance(0.7),
  hasNoShelf: dice.chance(0.04),
  options: {
    ...(dice.chance(0.3) && { flushAt: dice.between(1, 5) }),
    ...(dice.chance(0.2) && { flushInterval: dice.pick([10, 200, 5_000]) }),
    ...(dice.chance(0.3) && { concurrency: dice.between(1, 3) }),
    ...(dice.chance(0.3) && { timeout: dice.pick([2_000, 10_000]) }),
    ...(dice.chance(0.15) && { maxRecords: dice.between(8, 30) }),
  },
});

const drawCaps = (dice: Dice): Setup['options'] => ({
  ...(dice.chance(0.08) && { maxBytes: dice.between(1_500, 6_000) }),
  ...(dice.chance(0.08) && { maxAge: dice.between(5, 60) * 60_000 }),
});

/** Draws what happens in the world of a seed. */
export const drawScenario = (seed: number): Scenario => {
  const dice = createDice(seed, 'scenario');
  const setup = drawSetup(dice);
  Object.assign(setup.options, drawCaps(createDice(seed, 'caps')));
  let names = 0;

  const drawCall = (): Call => {
    const type = dice.chance(0.3) ? 'identify' : 'event';
    const isBad = dice.chance(0.02);
    return {
      type,
      name: `${type[0]}${++names}${isBad ? ` ${BAD}` : ''}`,
      user: type === 'identify' || dice.chance(0.2) ? dice.pick(USERS) : undefined,
    };
  };

  const drawAction = (at: number): Action => {
    const kind = dice.weigh(WEIGHTS);
    const page = dice.between(0, 5);
    switch (kind) {
      case 'call': {
        const count = dice.chance(0.1) ? dice.between(10, 45) : dice.between(1, 4);
        return { at, do: kind, page, calls: Array.from({ length: count }, drawCall) };
      }
      case 'kill':
        return { at, do: kind, page, after: dice.chance(0.5) ? 0 : dice.between(1, 12) };
      case 'kill browser':
        return { at, do: kind, loses: dice.chance(0.5) ? 0 : dice.between(1, 1_500) };
      case 'service':
        return { at, do: kind, mode: dice.chance(0.4) ? 'well' : dice.pick(SERVICE_MODES) };
      case 'network':
        return { at, do: kind, isOnline: dice.chance(0.6) };
      case 'budget':
        return { at, do: kind, isTaken: dice.chance(0.5) };
      case 'storage':
        return {
          at,
          do: kind,
          trouble: dice.weigh({ none: 4, aborts: 2, hangs: 1, refuses: 1, slow: 2 }),
        };
      case 'shelf':
        return { at, do: kind, isFull: dice.chance(0.4) };
      case 'clock': {
        const size = dice.pick([2_000, 70_000, HOUR, 3 * HOUR]);
        return { at, do: kind, by: Math.round((dice.next() - 0.5) * 2 * size) };
      }
      case 'consent':
        return {
          at,
          do: kind,
          page,
          consent: dice.weigh({ granted: 5, pending: 2, denied: 1 }),
        };
      case 'open':
      case 'clear storage':
      case 'foreign record':
      case 'token':
        return { at, do: kind };
      default:
        return { at, do: kind, page };
    }
  };

  const actions: Action[] = [{ at: 0, do: 'open' }];
  let at = 0;
  for (let left = dice.between(8, 60); left > 0; left--) {
    at += drawGap(dice);
    actions.push(drawAction(at));
  }
  return { seed, setup, actions };
};
