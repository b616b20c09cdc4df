import { createActor } from './act.js';
import type { Product } from './page.js';
import type { Scenario } from './scenario.js';
import type { Tally } from './tally.js';
import { createVisits } from './visits.js';
import { createWorld, type Violation } from './world.js';

/** As long as anything may take once all is well: the longest `Retry-After`, times of parcels, and pauses. */
const PATIENCE_MS = 4 * 3_600_000;
/** More than any world of this size needs. */
const MOST_STEPS = 2_000_000;

export interface Result {
  violation: Violation | undefined;
  steps: number;
  records: number;
  tally: Tally;
  /** What happened, for people to read. */
  trace: string[];
}

const nextTask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets a scenario happen to the real code, and watches. Stops at the first violation. */
export const runScenario = async (
  scenario: Scenario,
  product: Product,
  isTracing = false,
): Promise<Result> => {
  const { seed, setup, actions } = scenario;
  const world = createWorld(scenario, isTracing);
  const { timeline, now, note, violate, state, visits, faults, ledger, penalties } = world;
  const pages = createVisits(world, seed, setup, product);
  const act = createActor(world, pages, setup);
  let steps = 0;

  const runUntil = async (time: number, isOver = () => false): Promise<void> => {
    while (!state.violation && timeline.next() <= time && !isOver()) {
      if (++steps > MOST_STEPS) return violate('ends', 'it never ends');
      penalties.stepped();
      timeline.step();
      await nextTask();
    }
  };

  const mendAll = () => {
    note('· all is well from here on');
    world.endTrouble();
    Object.assign(world.trouble, { aborts: 0, hangs: false, refuses: false, slow: 0 });
    Object.assign(world.conditions, { service: 'well', isOnline: true, isBudgetTaken: false });
    state.isShelfFull = false;
    if (!setup.hasNoShelf) faults.end('localStorage');
    for (const visit of visits) {
      pages.goOn(visit);
      pages.online(visit);
    }
  };

  /** A visitor who consents, and whose page has both destinations: all that waits can be sent. */
  const visitOnceMore = () => {
    const visit = pages.open();
    pages.setConsent(visit, 'granted');
    pages.setDestination(visit, 'b');
    pages.setDestination(visit, 'a');
  };

  const onRejection = (error: unknown) =>
    violate('host', `an unhandled rejection: ${String(error)}`);
  process.on('unhandledRejection', onRejection);

  for (const action of actions) timeline.after(action.at, () => act(action));
  await runUntil(actions.at(-1)?.at ?? 0);

  timeline.after(1, mendAll);
  timeline.after(100, () => [...visits].forEach((visit) => pages.leave(visit)));
  timeline.after(400, visitOnceMore);
  const beginning = now();
  await runUntil(beginning + 1_000);
  await runUntil(beginning + PATIENCE_MS, () => ledger.unresolved() === 0);
  if (!state.violation) ledger.close(world.disk.has);

  process.off('unhandledRejection', onRejection);
  const { violation } = state;
  const records = ledger.fates.size;
  return { violation, steps, records, tally: world.verdicts.tally(), trace: world.trace };
};
