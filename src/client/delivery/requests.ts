import { mayFail } from '../../util/may-fail.js';
import { onNavigation } from '../life.js';
import type { Settings } from '../options.js';
import { now } from '../page.js';
import type { Entry } from '../outbox/parcel.js';
import { KEEPALIVE_BUDGET } from './send/post.js';
import type { Answer, Send } from './send/sender.js';

// The types of TypeScript do not have it yet.
declare const fetchLater: (url: unknown, init: RequestInit & { activateAfter: number }) => object;

/** Bytes of a batch that stand around a body, with the record's id. */
const AROUND = 133;
/** A request that fails up to this long before its timeout counts as timed out: clocks are not exact. */
const SLACK_MS = 1_000;

export const weigh = (group: readonly Entry[]): number =>
  group.reduce((sum, { bytes }) => sum + bytes + AROUND, 0);

/** The requests to one destination that are under way. */
export const createRequests = (settings: () => Settings, send: Send) => {
  /** Requests by what ends them, each with what forgets it, since nobody sees its answer any more. */
  const running = new Map<AbortController, () => void>();
  /** How many records they have. A counter, since a search of the outbox would take longer the more records wait. */
  let count = 0;
  /** Bytes that the browser still takes under keepalive. */
  let room = KEEPALIVE_BUDGET;

  /** Forgets what is under way, since the page was left. */
  const loseRunning = (): void => {
    running.forEach((lose) => lose());
  };

  /**
   * Requests that were under way as the last navigation began. If one fails early, the navigation is the cause: WebKit
   * breaks off requests without `keepalive`, and a private window of Firefox all. One that fails later may have arrived:
   * WebKit never ends the others if the page stays, as with a download.
   */
  let doubtful = new Map(running);
  const onBegin = () => (doubtful = new Map(running));
  // Where the receiver removes repeats, send again now. If not, the answer may still come.
  const onStay = () => doubtful.forEach((lose) => settings().resends && lose());
  /** Ends the listening to navigations; missing while no request is under way. */
  let unhear: (() => void) | undefined;

  /**
   * Sends a group in one request, which it starts before it returns.
   * @param silent failures in a row without an answer
   * @param handoff whether the page is being left
   * @param onEnd called once: with an answer for each record, with none if a navigation has broken the request off, or
   * with nothing if nobody sees the answer any more
   * @returns whether the browser finishes the request even if the page goes
   */
  const start = (
    group: Entry[],
    silent: number,
    handoff: boolean,
    onEnd: (answers?: Answer[]) => void,
  ): boolean => {
    const bytes = weigh(group);
    // While nothing answers, every other request goes without: some browsers refuse keepalive.
    const keepalive = bytes <= room && (handoff || silent % 2 === 0);
    const kept = keepalive ? bytes : 0;
    const controller = (mayFail(() => new AbortController()) ?? {}) as AbortController;
    const began = now();
    const conclude = (answers?: Answer[]) => {
      if (!running.delete(controller)) return; // forgotten, since the page was left, or carried on by the browser
      if (!running.size) unhear = unhear?.() as undefined;
      count -= group.length;
      onEnd(answers);
    };
    mayFail(() => (unhear ??= onNavigation(onBegin, onStay)));
    running.set(controller, conclude);
    count += group.length;
    room -= kept;
    void send(
      group.map(({ record }) => record),
      { keepalive, controller, isSilent: !!silent },
    ).then((answers) => {
      room += kept;
      // In the same task, or a `flush()` would settle in between.
      if (answers?.[0]!.status === 0 && doubtful.has(controller))
        conclude(now() > began + settings().timeout - SLACK_MS ? undefined : []);
      else if (answers) conclude(answers);
    });
    return keepalive;
  };

  /**
   * Gives a group to the browser, which sends it even if the page goes: Chromium 135 and later, and up to 64 KiB to one
   * origin, beside the requests with `keepalive` (https://fetch.spec.whatwg.org/#dom-window-fetchlater). Nobody sees the
   * answer, so the records stay in the outbox. Returns nothing if the browser does not take the group, or if the site has
   * a `fetch` of its own.
   */
  const defer = (group: Entry[]): unknown => {
    let taken: unknown;
    void send(
      group.map(({ record }) => record),
      {
        keepalive: false,
        controller: {} as AbortController,
        isSilent: true,
        fetch: (url, init) =>
          (taken = mayFail(() => fetchLater(url, { ...init, activateAfter: 0 }))) as never,
      },
    );
    return taken;
  };

  return {
    start,
    defer,
    loseRunning,
    /** Ends what is under way, since nothing may be sent any more. It may have arrived all the same. */
    abort: (): void => {
      running.forEach((_, controller) => controller.abort?.());
      loseRunning();
    },
    /** How many records are under way: directly one a request, by relay those of a batch. */
    count: (): number => count,
    room: (): number => room,
  };
};
