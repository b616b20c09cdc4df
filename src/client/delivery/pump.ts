import { ahead, BASE_MS } from '../../interface/backoff.js';
import { BATCH_RECORDS } from '../../interface/wire.js';
import { createAlarm } from './alarm.js';
import { createAnswers } from './answers.js';
import { createBackoff } from './backoff.js';
import { isGoing, turns, wasLeft } from '../life.js';
import { createClaims } from '../outbox/claims.js';
import { entriesOf } from '../outbox/memory.js';
import { drop, lose, nameInFlight, putBack, type Outbox } from '../outbox/outbox.js';
import type { Entry } from '../outbox/parcel.js';
import { checkLease, isSafe } from '../outbox/store.js';
import { save } from '../outbox/writer.js';
import { now, sinceOpened } from '../page.js';
import type { Status } from '../types.js';
import { choose } from './choice.js';
import { createRequests, weigh } from './requests.js';
import type { createDirectSend } from './send/direct.js';
import { createRelaySend } from './send/relay.js';
import { HANDOFF, KEEPALIVE_BUDGET } from './send/post.js';
import type { Sender } from './send/sender.js';

/** After an answer, wait this long for more free places: one write then names the records of several requests. */
const TOGETHER_MS = 12;
/** What a navigation has broken off waits for this long: until then WebKit breaks it off again and again. */
const BROKEN_OFF_MS = 5_000;

/** Sends what the outbox has to its destination: a loop that chooses records, names them, and starts requests. */
export const createPump = (outbox: Outbox, direct: typeof createDirectSend | undefined) => {
  const { name, settings } = outbox;
  const isRelay = !!settings().relay;
  const backoff = createBackoff(`${name} gate`);
  const [send, token]: Sender = isRelay ? [createRelaySend(settings)] : direct!(settings);
  const claims = createClaims(outbox);
  const answers = createAnswers(outbox, backoff, token);
  const requests = createRequests(settings, send);
  /** The number of the last call whose record is due. */
  let horizon = 0;
  /** Flushes that somebody waits for, each with the number of the last call before it. */
  let flushes: [settle: () => void, last: number][] = [];

  /** Pumps again at a later time. */
  const alarm = createAlarm(() => pump());

  /**
   * Whether a record may be sent now. A record that has failed waits for its own delay. As the page is left, nobody
   * would see it fail again, so it goes sooner only if the receiver recognises repeats.
   */
  const mayGo = (entry: Entry, isLeaving: boolean): boolean => {
    const due = isLeaving && settings().resends ? 0 : ahead(entry.record.due, now());
    if (due) alarm.set(due);
    if (due || entry.order > horizon || !isSafe(outbox, entry.parcel)) return false;
    const isOld = sinceOpened() - entry.born > settings().maxAge;
    if (isOld) drop(outbox, entry, 'expired');
    if (isOld || claims.mustWait(entry, isLeaving)) return false;
    // Where places are left, newer records go along: later they would cost another write that names them. They would go
    // before one that has failed.
    if (!entry.record.attempts) horizon = outbox.order;
    return true;
  };

  /** Chooses the records of the next requests. As the page is left, a request takes as many as the browser does. */
  const chooseNext = (places: number, isLeaving: boolean): Entry[][] =>
    choose(entriesOf(outbox), places, isLeaving, mayGo, (group, entry) => {
      const { attempts } = group[0]!.record;
      const most = isLeaving
        ? BATCH_RECORDS
        : Math.min(answers.width(), BATCH_RECORDS >> Math.min(attempts, 9)); // `>> 32` would be `>> 0`
      const room = isLeaving ? requests.room() : KEEPALIVE_BUDGET;
      return isRelay && group.length < most && weigh([...group, entry]) <= room;
    });

  /** @param since when the trouble of the destination began; 0 if it has none */
  const start = (group: Entry[], since: number, handoff = false): void => {
    const keepalive = requests.start(group, answers.silent(), handoff, (received) => {
      if (received?.length) answers.conclude(group, received, since);
      else {
        for (const entry of group) {
          if (received) entry.record.due = now() + BROKEN_OFF_MS;
          (received ? putBack : lose)(outbox, entry);
        }
      }
      alarm.set(now() + (requests.count() ? TOGETHER_MS : 0));
    });
    for (const entry of group) {
      const { record } = entry;
      entry.isSent = true;
      if (!handoff) record.attempts++; // or each time that a tab is hidden would halve its batches
      // Named where the browser finishes the request even if the page goes, and only there.
      if (!settings().resends && keepalive !== entry.isNamed) {
        entry.isNamed = keepalive;
        save(outbox, entry.parcel);
      }
      outbox.emit('sent', { record, handoff });
    }
  };

  /** Settles each flush of which nothing is under way any more. Records of later calls do not hold it up. */
  const settle = () => {
    if (!flushes.length) return;
    const first = [...entriesOf(outbox)].find((entry) => entry.isSent);
    flushes = flushes.filter(([done, last]) => (first && first.order <= last) || done());
  };

  let isPumping = false;
  /** Whether to look once more. */
  let isAgain = false;

  /** Names the records of these requests, if they have to be, and starts the requests. */
  const startAll = async (groups: Entry[][], since: number): Promise<void> => {
    if (!settings().resends) await nameInFlight(outbox, groups.flat());
    // Meanwhile an answer may have asked for a wait, another request may have taken the records, and a page that was
    // hidden has taken their names back.
    const isOpen = !backoff.read().until;
    for (const group of groups) {
      if (
        isOpen &&
        outbox.database &&
        group.every(
          (entry) =>
            !entry.isSent && (settings().resends || entry.isNamed) && isSafe(outbox, entry.parcel),
        )
      )
        start(group, since);
      for (const entry of group) if (!entry.isSent) putBack(outbox, entry);
    }
    isAgain = true;
  };

  /**
   * Starts what may be started now. The first of these that holds decides, also when the next round comes:
   * - storage may not be used: nothing, until consent is given
   * - the page is being left: nothing, until it is back
   * - the gate is closed: what dead pages have left is counted and trimmed, until the gate opens
   * - a token function has to be asked: it is asked
   * - records may go, and places are free: they are named, and their requests start
   * - places are free: what dead pages have left is claimed
   */
  const round = async (): Promise<void> => {
    isAgain = false;
    alarm.stop(); // the clock may have jumped, so the next time to act is found again
    checkLease(outbox);
    if (!outbox.database) return;
    alarm.set(claims.look());
    if (isGoing()) return; // from now on records are handed off; a page that stays after all looks again
    const { since, until } = backoff.read();
    if (until) {
      alarm.set(until);
      return void claims.claim(pump, true); // the limit applies to what dead pages have left, too
    }
    if (outbox.count && token?.current() === '') {
      const problem = await token.ask();
      if (problem && outbox.database && !(await wasLeft(turns))) answers.lacksToken(problem);
      isAgain = true;
      return;
    }
    const places = since || isRelay ? 1 : Math.min(answers.width(), settings().concurrency);
    const free = places - requests.count();
    const groups = chooseNext(free, false);
    if (groups.length) return startAll(groups, since);
    if (free > 0) void claims.claim(pump);
  };

  /** Sends what may be sent, and goes on until nothing is left to do. */
  const pump = async (): Promise<void> => {
    isAgain = true;
    if (isPumping) return;
    isPumping = true;
    try {
      await undefined; // the page may add its listeners after `init`
      while (isAgain) await round();
    } catch {
      alarm.set(now() + BASE_MS); // whatever threw may throw again, so not without a pause
    }
    isPumping = false;
    if (!outbox.isClaiming) settle();
  };

  const flushAll = () => {
    horizon = outbox.order;
    void pump();
  };

  /**
   * The network is back: all delays end, but for a wait that the service has asked for. The token function is asked
   * again, since its last token may have run out meanwhile. A 401 now would close the gate for half as long as the
   * network was away.
   */
  const online = () => {
    token?.forget();
    answers.online();
    backoff.online();
    for (const entry of entriesOf(outbox)) entry.record.due = 0;
    flushAll();
  };

  return {
    pump: pump as () => unknown,
    /** Looks for what dead pages have left, and pumps. */
    look: () => {
      claims.hurry();
      void pump();
    },
    flushAll,
    /** Asks for a token as soon as something waits: a page that is left needs it at once. */
    prepare: (): void => {
      if (token?.current() === '') void pump();
    },
    /** Settles when nothing is under way any more of what was called before. */
    flush: (): Promise<void> => {
      flushAll();
      return new Promise((done) => flushes.push([done, horizon]));
    },
    /**
     * Hands off what the browser takes from a page that is hidden or goes away: at once, from memory. A record that may
     * safely be sent again is handed off in trouble, too, unless the service has asked for a wait; but not again at each
     * call of a hidden page (`isCall`).
     */
    handOff: (isCall?: boolean): void => {
      if (!outbox.database || token?.current() === '') return;
      const { resends, fetch } = settings();
      const { since, isAsked } = backoff.read();
      if (resends && !isCall ? isAsked : since || answers.isCutOff()) return;
      horizon = outbox.order;
      for (const group of chooseNext(HANDOFF, true)) {
        if (!outbox.database) break; // a listener may have denied consent
        if (weigh(group) <= requests.room()) start(group, since, true);
        // A page that stays sends the rest itself. A record without room stops those after it, which may be of its user.
        else if (!(resends && !fetch && isGoing() && requests.defer(group))) break;
      }
    },
    online,
    /** The set-up has changed, so a request that was refused may pass now. */
    reconfigure: (): void => {
      backoff.end();
      online();
    },
    /** A new life has begun: what is under way is forgotten, and all that is stored is scanned. */
    restart: (): void => {
      claims.restart();
      requests.loseRunning();
    },
    /** Ends everything, since nothing may be sent any more. */
    halt: (): void => {
      requests.abort();
      alarm.stop();
      settle();
    },
    /** What is under way and what waits, what other pages held at the last complete scan, and why nothing is sent until when. */
    standing: () => {
      const nextAttempt = (outbox.database && backoff.read().until) || undefined;
      return {
        elsewhere: claims.elsewhere(),
        waiting: outbox.count - requests.count(),
        inFlight: requests.count(),
        paused: (outbox.database ? nextAttempt && answers.reason() : 'consent') as Status['paused'],
        nextAttempt,
      };
    },
  };
};
