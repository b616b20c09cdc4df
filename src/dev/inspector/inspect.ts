import type { Tell } from '../../client/analytics.js';
import { isGpcOn, isOffline } from '../../client/page.js';
import type { Status } from '../../client/types.js';
import { ahead } from '../../interface/backoff.js';
import type { Watched } from '../watched.js';
import { closeNow, type Closing } from './closing.js';
import { destinationOf, type Destination } from './destination.js';
import { createLines, type Line } from './lines.js';
import { optionRows, type OptionRow } from './options-table.js';
import { reasonOf, type Reason } from './reason.js';
import { ownLife, readGate, readStored, type Stored } from './stored.js';

const EVENTS = ['record', 'sent', 'outcome', 'drop'] as const;

/** What other pages hold. */
export interface Others {
  /** Pages that are open, and their records. */
  pages: number;
  held: number;
  /** When the last of their leases ends. */
  until: number;
  /** Records that nobody holds: a page that looks takes them. */
  free: number;
}

/** Everything there is to be shown at a moment. */
export interface Snapshot {
  watched: Watched;
  now: number;
  status: Status;
  destination: Destination | undefined;
  lines: Line[];
  reason: Reason;
  /** What costs more is only asked for where it is shown. */
  closing: () => Closing;
  options: () => OptionRow[];
  others: Others;
  isGpc: boolean;
}

/**
 * Follows one instance until `stop`: what it tells, what the page has stored for it, and why nothing is sent.
 * @param onChange called when something has been told or read
 */
export const inspect = (watched: Watched, onChange: () => void) => {
  const { analytics, followers, unfinished } = watched;
  const lines = createLines();
  let stored: Stored | undefined;
  let own: string | undefined;
  let isStopped = false;
  let isReading = false;

  lines.begin(unfinished.values());
  const tell: Tell = (what, detail) => {
    lines.tell(what, detail);
    onChange();
  };
  followers.add(tell);
  // A build that tells no steps, as in production, has its events all the same.
  const unfollow = watched.isTold
    ? []
    : EVENTS.map((type) => analytics.on(type, (detail) => tell(type, detail)));

  const othersOf = (now: number): Others => {
    const others: Others = { pages: 0, held: 0, until: 0, free: 0 };
    for (const { life, until, records } of stored?.lives ?? []) {
      if (life === own) continue;
      if (ahead(until, now)) {
        others.pages++;
        others.held += records.length;
        others.until = Math.max(others.until, until);
      } else others.free += records.length;
    }
    return others;
  };

  return {
    watched,
    /** Reads what is stored, unless it is being read. */
    read: async (): Promise<void> => {
      const destination = destinationOf(watched.options);
      if (!destination || isReading) return;
      isReading = true;
      stored = await readStored(destination.name);
      isReading = false;
      if (isStopped || !stored) return;
      const { waiting, inFlight } = analytics.status();
      const count = waiting + inFlight;
      const life = ownLife(stored.lives, lines.isOwn, count);
      own = life?.life;
      if (life || !count) lines.stored(life?.records ?? [], stored.isComplete);
      onChange();
    },
    look: (): Snapshot => {
      const now = Date.now();
      const status = analytics.status();
      const { options, error } = watched;
      const destination = destinationOf(options);
      const gate = readGate(destination?.name);
      const isAsked = gate.until! > now && !!gate.isAsked;
      const isGpc = isGpcOn();
      const all = lines.all();
      const known = { lines: all, status, isAsked, isGpc, now, given: options, error };
      return {
        ...{ ...known, watched, destination },
        reason: reasonOf(known),
        closing: () =>
          closeNow({
            ...known,
            ...destination,
            isInTrouble: !!gate.since,
            isOffline: isOffline(),
          }),
        options: () => optionRows(watched),
        others: othersOf(now),
      };
    },
    stop: (): void => {
      isStopped = true;
      followers.delete(tell);
      for (const end of unfollow) end();
    },
  };
};

export type Inspection = ReturnType<typeof inspect>;
