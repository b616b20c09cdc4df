import type { Tell } from '../client/analytics.js';
import { mayFail } from '../util/may-fail.js';
import { isPage } from '../client/page.js';
import type { Call } from '../client/record.js';
import type { DeliveryError, Drop, Listeners, Options, OutboxRecord } from '../client/types.js';
import { bodyOf, dropText, refusalsOf, slipsOf } from './calls.js';
import { contextProblem, hasGivenNone } from './context.js';
import { createDebugLog } from './debug-log.js';
import { addressOf, errorText, followPolicy, isMixed } from './delivery.js';
import { EVENTS, checkEvent } from './events.js';
import { watchForeign } from './foreign.js';
import { doubtsOf, optionsProblem } from './options.js';
import type { Say } from './say.js';
import { show } from './show.js';
import { fileOf, tagProblems } from './tag.js';

/** A developer is told when calls have waited this long for `init`. */
const LATE_MS = 10_000;
/**
 * A database that has not answered in time is tried again after ten seconds. On a busy machine it works then, and
 * nobody has to know.
 */
const LASTING_MS = 12_000;

interface Parts {
  say: Say;
  /** Called with what is wrong with the options of an `init`. It may throw. */
  refuse: (problem: string) => void;
}

/** Makes the function that a tracker tells its steps, and that tells the developer what is wrong with them. */
export const createDeveloper = ({ say, refuse }: Parts): Tell => {
  let options: Partial<Options> = {};
  let tag: HTMLScriptElement | null = null;
  let isStarted = false;
  let late: ReturnType<typeof setTimeout> | undefined;
  /** The policy of the page has blocked a request. */
  let isBlocked = false;
  let isFollowed = false;
  /** The field that a relay does not list, until its record is known. */
  let unlisted: string | undefined;
  let isContextAsked = false;
  /** The database works. */
  let isKept = false;
  /** Calls that are being made records. Each may make others, by `beforeSend` or `context`. */
  const calls: Call[] = [];
  let isNested = false;
  const logStep = createDebugLog();

  const handlers = {
    tag: (first: HTMLScriptElement): void => {
      tag = first;
      tagProblems(first).forEach(say);
    },
    twice: (second: HTMLScriptElement): void =>
      say(`${fileOf(second)} is a second tag: leave it out`),
    init: (next: Partial<Options>): void => {
      const { project, disabled } = next;
      if (disabled) return;
      doubtsOf(next, tag?.dataset).forEach(say);
      const address = addressOf(next);
      if (isMixed(address))
        say(`the browser blocks ${address}, as this page is https: give an https address`);
      if (options.project && (options.project !== project || addressOf(options) !== address)) {
        say(
          `\`init\` again, for project ${project} at ${address}: later calls go there. For both use a second instance`,
        );
      }
      options = next;
      if (isFollowed) return;
      isFollowed = true;
      watchForeign(say);
      followPolicy(
        () => options,
        (why) => {
          isBlocked = true;
          say(why);
        },
      );
    },
    wait: (): void => {
      const tellLate = () => {
        const what = '`init` has not been called, and the tag has no options';
        if (!isStarted) say(`calls wait, and nothing is sent: ${what}`);
      };
      late ??= setTimeout(tellLate, LATE_MS);
    },
    call: (call: Call): void => {
      isNested = calls.length > 0;
      // A call that is dropped since consent is denied may stay: it may have been a record by then.
      if (!isNested) queueMicrotask(() => calls.splice(0));
      calls.push(call);
      slipsOf(call).forEach(say);
    },
    record: (record: OutboxRecord): void => {
      const call = calls.pop();
      refusalsOf(record).forEach(say);
      const { context, beforeSend } = options;
      const mayAsk = context && !beforeSend && !isContextAsked && !isNested;
      if (!mayAsk || record.type !== 'event' || !call) return;
      if (!hasGivenNone(call, bodyOf(record).tags)) return;
      isContextAsked = true;
      const problem = contextProblem(context);
      if (problem) say(`\`context\` ${problem}`);
    },
    drop: (drop: Drop): void => {
      const isCall = !drop.record && drop.reason !== 'consent-denied';
      const text = dropText(drop, isCall ? calls.pop() : undefined);
      if (text) say(text);
    },
    outcome: ({ record, outcome }: Listeners['outcome']): void => {
      if (!unlisted || outcome !== 'blocked') return;
      const value = show(bodyOf(record)[unlisted]);
      say(`the relay does not list the ${unlisted} ${value}: add it to its list \`${unlisted}s\``);
      unlisted = undefined;
    },
    error: (error: DeliveryError): void => {
      unlisted = /(\w+) not listed/.exec(error.message)?.[1];
      // That the policy blocks it was told, and is no guess.
      if (!unlisted && !(isBlocked && error.kind === 'unreachable')) say(errorText(error, options));
    },
    storage: ({ storage, message }: Listeners['storage']): void => {
      isKept = storage === 'indexeddb';
      const tellLasting = () => {
        if (!isKept) say(`records are kept in memory until storage works: ${message}`);
      };
      if (storage !== 'memory') return;
      if (message === 'no answer in time') setTimeout(tellLasting, LASTING_MS);
      else tellLasting();
    },
    on: (type: string, listener: unknown): void => checkEvent(type, listener, say),
  };

  return (what, detail, more = []) => {
    if (!isPage()) return;
    if (what === 'init') {
      isStarted = true;
      const wrong = more as string[];
      const problem = mayFail(() => optionsProblem(detail, wrong, tag?.dataset));
      if (problem) return refuse(problem);
      // All of it was told of the tag.
      if (wrong.length) return;
    }
    mayFail(() => {
      (handlers as Partial<Record<string, (...step: unknown[]) => void>>)[what]?.(detail, more);
      if (options.debug && EVENTS.includes(what)) logStep(what, detail);
    });
  };
};
