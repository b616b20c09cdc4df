import { HANDOFF, KEEPALIVE_BUDGET } from '../../client/delivery/send/post.js';
import type { Status } from '../../client/types.js';
import type { Destination } from './destination.js';
import { openTry, type Line } from './lines.js';

interface Situation extends Partial<Pick<Destination, 'isRelay' | 'resends'>> {
  lines: readonly Line[];
  status: Status;
  /** Whether the destination is in trouble, and whether it asked for the wait that still goes on. */
  isInTrouble: boolean;
  isAsked: boolean;
  isOffline: boolean;
  now: number;
}

/** What would become of each record if the page were closed now. */
export interface Closing {
  /** Given to the browser, which sends it whatever becomes of the page. */
  handedOff: Line[];
  /** On the wire: the browser completes it, and nobody sees the answer. */
  onTheWire: Line[];
  /** It waits in the outbox for the next page. */
  waits: Line[];
  /** It is in memory only. */
  lost: Line[];
  /** How many of these were not seen in the database yet. The exit note takes them. */
  notStored: number;
}

/** Bytes that stand around a body in a batch, and count in the direct form too. */
const AROUND = 133;

/** Follows the rules by which a page that is left hands off what it has. */
export const closeNow = (situation: Situation): Closing => {
  const { lines, status, isInTrouble, isAsked, isOffline, isRelay, resends, now } = situation;
  // Oldest first, as they would go.
  const open = lines.filter(({ end, body }) => !end && body).reverse();
  const closing: Closing = { handedOff: [], onTheWire: [], waits: [], lost: [], notStored: 0 };
  if (status.storage === 'none') return { ...closing, lost: open };
  const isBarred = resends ? isAsked : isInTrouble || isOffline;
  let room = KEEPALIVE_BUDGET;
  const sizeOf = ({ body }: Line) => new TextEncoder().encode(body).length + AROUND;
  for (const line of open) {
    if (!openTry(line)) continue;
    closing.onTheWire.push(line);
    room -= sizeOf(line);
  }
  for (const line of open) {
    if (openTry(line)) continue;
    const mayGo = !isBarred && (resends || line.due <= now);
    if (mayGo) room -= sizeOf(line);
    const isInReach = room >= 0 && (isRelay || closing.handedOff.length < HANDOFF);
    (mayGo && isInReach ? closing.handedOff : closing.waits).push(line);
  }
  closing.notStored = closing.waits.filter(({ storedAt }) => !storedAt).length;
  return closing;
};
