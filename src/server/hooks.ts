import { messageOf } from '../interface/errors.js';

/** Numbers a relay gives away. Labels are from small closed sets, never from the input. */
export type RelayMetric =
  /** 1 a request. Labels: `route`, `status`. */
  | 'requests'
  /**
   * 1 a record that was received (`side` is `in`) or tried by a consumer (`out`). Label: `outcome`. A record that a
   * consumer gives back untried does not count.
   */
  | 'records'
  /** Milliseconds one try at the service took. Label: `status`, 0 where there was no answer. */
  | 'upstream_ms'
  /** 1 when the service begins to fail, 0 when it takes a record again. */
  | 'trouble'
  /** What was dropped because a bound was reached. Label: `bound`, the name of the setting. */
  | 'dropped'
  /** Records that were known, so that they were not passed on again. */
  | 'seen_hits'
  /** 1 a request refused because too much came. Label: `limit`, `client` or `network` (429), or `all` (503). */
  | 'rate_limited'
  /** Milliseconds a queue took to make a batch durable. */
  | 'queue_put_ms'
  /** Records that wait in the queue, as a consumer sees it now and then. */
  | 'queue_waiting'
  /** Dead letters in the queue. */
  | 'queue_dead'
  /** Milliseconds the oldest record has waited in the queue; 0 where none does. */
  | 'queue_oldest_ms';

/** A setting that bounds what is kept. Beyond it, the oldest goes. */
export type Bound = 'maxDead' | 'maxDeadOfClient' | 'maxIds' | 'maxIdsOfClient';
/** What was dropped to make room, the oldest first: how many of each bound that was reached. */
export type Dropped = Partial<Record<Bound, number>>;

export type OnMetric = (
  name: RelayMetric,
  value: number,
  labels?: Readonly<Record<string, string>>,
) => void;

/** Something that needs the operator. Holds no token, and of a body only a value that is not listed. */
export interface RelayError {
  /**
   * The first seven are told once until they are over:
   * - `setup`: the service answers 401, or more than once in a row 403, 404, 405, a redirect or HTML.
   * - `unreachable`: the service gives no answer at all; the message has the cause.
   * - `service`: the service answers 408, 425, 429 or 5xx, more than once in a row.
   * - `records`: the service takes records, but refuses to take some.
   * - `token`: the token function failed, or gave what no header can carry.
   * - `seen`, `queue`: the store failed.
   * - `unlisted`: records name a project or channel that is not listed; each value is told once a day.
   * - `dropped`: what was kept had to go, because there was too much of it; told once a minute at the most.
   * - `storage`: the store is set up so that it may lose records; told at the start.
   * - `hook`: a function that was passed in failed.
   * - `relay`: a fault of the relay itself.
   */
  kind:
    | ('setup' | 'unreachable' | 'service' | 'records' | 'token' | 'seen' | 'queue')
    | ('unlisted' | 'dropped' | 'storage' | 'hook' | 'relay');
  message: string;
  /** HTTP status of the service, where there was an answer. */
  status?: number;
}

export type OnError = (error: RelayError) => void;

/** A trouble that `onError` has told of is over. */
export type OnRecovery = (recovery: { kind: RelayError['kind']; lastedMs: number }) => void;

/** The hooks of an operator, for metrics and errors of certain names. */
export interface HooksOf<Metric extends string, Problem extends { kind: string }> {
  onMetric?:
    ((name: Metric, value: number, labels?: Readonly<Record<string, string>>) => void) | undefined;
  onError?: ((error: Problem) => void) | undefined;
  /** Called when a trouble is over that `onError` has told of. */
  onRecovery?: ((recovery: { kind: Problem['kind']; lastedMs: number }) => void) | undefined;
}

export type Hooks = HooksOf<RelayMetric, RelayError>;

/**
 * Calls a function of the operator's whose result does not matter. It may throw or reject; on Node an
 * unhandled rejection would end the process.
 */
export const callSafely = (hook: () => unknown, failed: (error: unknown) => void): void => {
  try {
    const result = hook();
    if (result !== undefined) Promise.resolve(result).catch(failed);
  } catch (error) {
    failed(error);
  }
};

/** The hooks, made safe: one that throws must not cost a record. */
export const createTell = <
  Metric extends string = RelayMetric,
  Problem extends { kind: string } = RelayError,
>({
  onMetric,
  onError,
  onRecovery,
}: HooksOf<Metric, Problem>) => {
  const error = (problem: Problem | { kind: 'hook'; message: string }): void =>
    callSafely(
      () => onError?.(problem as Problem), // every list of kinds has `hook`
      () => {}, // there is nobody left to tell
    );
  return {
    error,
    /** Calls another hook. */
    call: (name: string, hook: () => unknown): void =>
      callSafely(hook, (thrown) =>
        error({ kind: 'hook', message: `\`${name}\` failed: ${messageOf(thrown)}` }),
      ),
    metric: (
      ...args: [name: Metric, value: number, labels?: Readonly<Record<string, string>>]
    ): void =>
      callSafely(
        () => onMetric?.(...args),
        (thrown) => error({ kind: 'hook', message: messageOf(thrown) }),
      ),
    recovery: (over: { kind: Problem['kind']; lastedMs: number }): void =>
      callSafely(
        () => onRecovery?.(over),
        () => {},
      ),
  };
};

export type Tell = ReturnType<typeof createTell<RelayMetric, RelayError>>;

/** Tells that a function of the operator's has failed. */
export interface TellHook {
  error: (problem: { kind: 'hook'; message: string }) => void;
}

/** Reports a trouble once, and again only after it is over, which is reported as well. */
export const createReportOnce = <Problem extends { kind: string }>(
  tell: {
    error: (problem: Problem) => void;
    recovery: (over: { kind: Problem['kind']; lastedMs: number }) => void;
  },
  now: () => number,
) => {
  let told: { kind: Problem['kind']; since: number } | undefined;
  return {
    /** `since`: when it began, if that was before now. */
    tell: (error: Problem, since = now()): void => {
      if (!told) tell.error(error);
      told ??= { kind: error.kind, since };
    },
    healed: (): void => {
      if (told) tell.recovery({ kind: told.kind, lastedMs: now() - told.since });
      told = undefined;
    },
  };
};

const DROPPED_EVERY_MS = 60_000;

const DROPPED: Readonly<Record<Bound, string>> = {
  maxDead: 'of the oldest dead letters were deleted, because there were too many',
  maxDeadOfClient: 'of the oldest dead letters of one client were deleted, because it had too many',
  maxIds: 'of the oldest ids of known records were forgotten, because there were too many',
  maxIdsOfClient: 'of the oldest ids of one client were forgotten, because it had too many',
};

/** Counts what a store drops because a bound was reached, and tells of it once a minute at the most. */
export const createTellDropped = (tell: Tell, now: () => number) => {
  const known = new Map<string, { untold: number; toldAt: number }>();

  return (dropped: Dropped | void): void => {
    for (const [bound, count] of Object.entries(dropped ?? {})) {
      if (!count) continue;
      tell.metric('dropped', count, { bound });
      const { untold, toldAt } = known.get(bound) ?? { untold: 0, toldAt: -Infinity };
      const sum = untold + count;
      const isTold = Math.abs(now() - toldAt) < DROPPED_EVERY_MS;
      known.set(bound, isTold ? { untold: sum, toldAt } : { untold: 0, toldAt: now() });
      if (isTold) continue;
      tell.error({ kind: 'dropped', message: `${sum} ${DROPPED[bound as Bound]} (\`${bound}\`)` });
    }
  };
};
