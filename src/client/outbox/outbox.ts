import type { OutboxRecord } from '../types.js';
import { createClaims } from './claim.js';
import { forgetAway, type Context, type OutboxEffects } from './context.js';
import { createEnds } from './ends.js';
import { createExit } from './exit.js';
import { createIntake } from './intake.js';
import { createLine } from './line.js';
import { createOwnNote } from './own-note.js';
import { createSending } from './sending.js';
import { isUnderWay } from './states.js';
import { createWriter } from './writer.js';

/** The durable queue: records in memory, and the parcels of them in the database. */
export const createOutbox = (effects: OutboxEffects) => {
  const { journal, newId } = effects;
  let life = newId();
  const line = createLine();
  const context: Context = {
    ...effects,
    line,
    away: { count: 0, bytes: 0 },
    former: new Map(),
    holder: () => life,
  };

  const ends = createEnds(context, {
    onLetGo: () => claims.seek(),
    onFinish: (parcel) => writer.writeSoon(parcel),
  });
  const { part, letGoOverdue, finish, drop, young } = ends;
  const note = createOwnNote(context);
  const writer = createWriter(context, ends, note);
  const exit = createExit(context, ends, writer, note);
  const sending = createSending(context, ends, writer);
  const intake = createIntake(context, ends, writer);
  const claims = createClaims(context, ends, intake);

  const look = (): void => {
    letGoOverdue();
    claims.seek();
  };

  return {
    /** The records in memory that have no end yet, oldest first. */
    entries: line.entries,
    count: line.count,
    /** How many records wait in memory, and in the database without a copy here. */
    waiting: (): number =>
      context.away.count + [...line.entries()].filter((entry) => !isUnderWay(entry)).length,
    /** How many records other pages hold, as of the last look; undefined before the first. */
    elsewhere: (): number | undefined => context.away.others,
    latest: intake.latest,
    add: (record: OutboxRecord): void => {
      intake.add(record);
      void claims.makeRoom();
    },
    finish,
    drop,
    young,
    ...claims,
    ...sending,
    /** Lets go of parcels that another page may have claimed, and drops records older than `maxAge` at the head. */
    tidy: (): void => {
      letGoOverdue();
      young().next();
    },
    /** The page is back. */
    comeBack: (): void => {
      journal.comeBack();
      look();
    },
    /** Lets go of parcels that another page may have claimed, and looks for those that this page may claim. */
    look,
    /** The page is hidden or, with `isGoing`, left: it may not come back. */
    leave: (isGoing: boolean): void => {
      if (journal.kind() === 'none') return; // nothing may be written down
      sending.withdraw();
      letGoOverdue();
      if (!isGoing) return exit.hide();
      exit.go();
      // The next life of this page must claim the parcels like any other page.
      life = newId();
    },
    /** Storage may be used, or works again: writes all that is in memory. */
    rewrite: (): void => {
      for (const parcel of line.parcels) void writer.write(parcel);
      if (!claims.hasUnread()) claims.seek();
    },
    /** Removes all records from memory, and returns them. */
    clear: (): OutboxRecord[] => {
      letGoOverdue();
      const records = [...line.entries()].map(({ record }) => record);
      for (const parcel of [...line.parcels]) part(parcel);
      forgetAway(context, undefined);
      return records;
    },
  };
};

export type Outbox = ReturnType<typeof createOutbox>;
