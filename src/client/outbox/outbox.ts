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

/** The durable queue. What is in memory is written through to the database, in parcels. */
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
    onFinish: (parcel) => writer.finished(parcel),
  });
  const { away } = context;
  const { part, partOver, finish, drop, young } = ends;
  const note = createOwnNote(context);
  const writer = createWriter(context, { note, ends });
  const exit = createExit(context, { note, writer, ends });
  const sending = createSending(context, { writer, ends });
  const intake = createIntake(context, { writer, ends });
  const claims = createClaims(context, { intake, ends });

  const look = (): void => {
    partOver();
    claims.seek();
  };

  return {
    /** The records in memory that have no end yet, oldest first. */
    entries: line.entries,
    count: line.count,
    /** Records that are not under way, with those that wait in the database without a copy here. */
    waiting: (): number =>
      away.count + [...line.entries()].filter((entry) => !isUnderWay(entry)).length,
    /** Records that other pages hold, as this page has last seen; nothing before it has looked. */
    elsewhere: (): number | undefined => away.others,
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
    /** Lets go of what may be another page's by now, and drops what is too old at the head of the line. */
    tidy: (): void => {
      partOver();
      young().next();
    },
    /** The page is back. */
    comeBack: (): void => {
      journal.comeBack();
      look();
    },
    /** Looks for what others have left, and lets go of what this page holds no longer. */
    look,
    /** Writes down what a page that may not come back leaves; with `isGoing`, lets it go. */
    leave: (isGoing: boolean): void => {
      if (journal.kind() === 'none') return; // nothing may be written down
      sending.withdraw();
      partOver();
      if (!isGoing) return exit.hide();
      exit.go();
      // What it has let go is anybody's, also its own next life's.
      life = newId();
    },
    /** Storage may be used, or works again: writes all that waits. */
    rewrite: (): void => {
      for (const parcel of line.parcels) void writer.touch(parcel);
      if (!claims.hasUnread()) claims.seek();
    },
    /** Forgets all records, and returns those that were in memory. */
    clear: (): OutboxRecord[] => {
      partOver();
      const records = [...line.entries()].map(({ record }) => record);
      for (const parcel of [...line.parcels]) part(parcel);
      forgetAway(context, undefined);
      return records;
    },
  };
};

export type Outbox = ReturnType<typeof createOutbox>;
