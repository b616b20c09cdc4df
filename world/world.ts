import { createActions, WELL } from './actions.js';
import { createDice } from './dice.js';
import { createDisk } from './disk.js';
import { createStorage, type Trouble } from './indexed-db.js';
import { createJudge, type Promised } from './judge.js';
import { createNetwork, type Conditions } from './network.js';
import type { Scenario } from './scenario.js';
import { createTimeline } from './timeline.js';
import { createVisits, type Device } from './visits.js';

/** As long as anything may take once all is well: the longest waits, and leases. */
const PATIENCE_MS = 4 * 3_600_000;
/** More than any world of this size needs. */
const MOST_STEPS = 500_000;
const ONE_CALL = [{ isEvent: true, isBad: false, isDisliked: false, user: undefined }];

/** Lets a scenario happen to the real client, and watches. Fails at the first promise that does not hold. Resolves with a
 * function that tells what happened. */
export const runWorld = async (scenario: Scenario, promised: Promised): Promise<() => string[]> => {
  const { seed, setup, ending } = scenario;
  const { engine, way, options } = setup;
  const timeline = createTimeline();
  const { now, after } = timeline;
  const notes: [at: number, line: () => string][] = [];
  let broken: [invariant: string, message: string] | undefined;
  let isDenied = false;

  const note = (line: () => string) => void notes.push([now(), line]);
  const violate = (invariant: string, message: string) => void (broken ??= [invariant, message]);
  const trouble: Trouble = { ...WELL };
  const conditions: Conditions = {
    service: 'well',
    isOnline: true,
    isBudgetTaken: false,
    dislikes: true,
    token: 'token-0',
  };
  const device: Device = { shift: 0, room: Infinity };

  const knowsRepeats = way !== 'direct';
  const judge = createJudge(promised, knowsRepeats, () => Math.floor(now()), violate);
  judge.limitAge(options['maxAge'] ?? Infinity);
  const disk = createDisk(now);
  const storage = createStorage({
    timeline,
    disk,
    dice: createDice(seed, 1),
    trouble,
    onPut: (name, ids) => {
      const consent = visits.byName(name)?.consent;
      if (consent && consent !== 'granted' && ids.some((id) => !disk.has(id)))
        violate('consent', `${name} stores records, and consent is ${consent}`);
    },
  });
  const network = createNetwork({
    timeline,
    dice: createDice(seed, 2),
    conditions,
    saysLate: engine === 'chromium',
    knowsRepeats,
    judge,
    onStart: ({ user: { name }, destination, ids, keepalive }) => {
      note(() => `${name} → ${ids.join(', ')}${keepalive ? '' : ' (not kept)'}`);
      const visit = visits.byName(name);
      if (visit && visit.consent !== 'granted')
        violate('consent', `${name} sends, and consent is ${visit.consent}`);
      judge.started(name, destination, ids, !!visit?.page.isHidden());
    },
  });
  const shared = { scenario, timeline, disk, storage, network, conditions, device, judge, note };
  const dice = createDice(seed, 0);
  const visits = createVisits({ ...shared, dice, isDenied: () => isDenied });
  const actions = createActions({ ...shared, visits, trouble });

  let steps = 0;
  const runUntil = async (time: number, isOver = () => false): Promise<void> => {
    while (!broken && timeline.next() <= time && !isOver()) {
      if (++steps > MOST_STEPS) return violate('ends', 'it never ends');
      timeline.step();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  const mendStorage = () => {
    Object.assign(trouble, WELL);
    device.room = Infinity;
  };
  const mendAll = () => {
    note(() => '· all is well from here on');
    mendStorage();
    Object.assign(conditions, {
      service: 'well',
      isOnline: true,
      isBudgetTaken: false,
      dislikes: false,
    });
    for (const visit of visits.all) {
      visit.page.thaw();
      visits.online(visit);
    }
  };

  /** Consent is denied: nothing stays, nothing is sent, and later pages know. Then it is given again. */
  const deny = () => {
    const visit = visits.running()[0] ?? visits.open();
    isDenied = true;
    judge.release();
    visits.setConsent(visit, 'denied');
    // Others hear of it a moment later.
    after(2, () =>
      visits.all.forEach((other) => (other.consent = other.analytics.status().consent)),
    );
    after(60_000, () => actions.call(visits.open(), ONE_CALL));
    after(120_000, () => {
      for (const left of disk.records()) violate('consent', `a denial leaves ${left}`);
      isDenied = false;
      for (const one of visits.all) visits.setConsent(one, 'granted');
    });
  };

  /** A visitor whose page has both destinations: all that waits can be sent. */
  const visitOnceMore = () => {
    const visit = visits.open();
    actions.call(visit, ONE_CALL);
    visits.setDestination(visit, 'b');
    visits.setDestination(visit, 'a');
  };

  const onRejection = (error: unknown) => violate('host', `a rejection: ${String(error)}`);
  process.on('unhandledRejection', onRejection);
  process.on('uncaughtException', onRejection);

  let time = 0;
  after(0, visits.open);
  for (const { gap, action } of scenario.actions) {
    time += gap;
    after(time, () => actions.act(action));
  }
  for (const fault of scenario.faults) after(fault.at * time, () => actions.fail(fault));
  await runUntil(time);
  if (ending === 'denial') {
    after(1, mendStorage);
    after(2, deny);
    await runUntil(now() + 130_000);
  }
  after(1, mendAll);
  after(100, () => [...visits.all].forEach((visit) => visits.leave(visit)));
  after(400, visitOnceMore);
  await runUntil(now() + 1_000);
  await runUntil(now() + PATIENCE_MS, judge.isOver);
  if (!broken) judge.close();

  process.off('unhandledRejection', onRejection);
  process.off('uncaughtException', onRejection);
  const trace = () =>
    notes.map(([at, line]) => `${(at / 1_000).toFixed(3).padStart(10)}  ${line()}`);
  if (broken) throw new Error(`${[broken.join(': '), ...trace()].join('\n')}`);
  return trace;
};
