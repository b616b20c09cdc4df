import { messageOf } from '../util/errors.js';

/** The numbers that `onMetric` is called with. Labels come from small closed sets, never from the input. */
export type ServerMetric =
  /** 1 a request. Labels: `route`, `status`. */
  | 'requests'
  /**
   * 1 a record that was received (`side` is `in`), or a row that was tried to be passed on (`out`). Label: `outcome`.
   * Records that go nowhere have the outcome `ignored_address` or
   * `ignored_gpc`.
   */
  | 'records'
  /** 1 a request or record that was refused. Labels: `reason`, and `kept`: whether it can be read later. */
  | 'refused'
  /** 1 a request that a limit has refused. Label: `limit`, `client` or `network` (429), or `all` (503). */
  | 'rate_limited'
  /** Repeats, which are not stored or passed on again. */
  | 'repeats'
  /** How much was deleted because a bound was reached. Label: `bound`, the name of the setting. */
  | 'dropped'
  /** 1 when the database or the service begins to fail, 0 when it takes a record again. */
  | 'trouble'
  /** Milliseconds a write into the database took until it was durable. */
  | 'store_ms'
  /** Milliseconds that one request to the service took. Label: `status`, 0 if there was no answer. */
  | 'upstream_ms'
  /** Rows that the sums or the profiles have not read yet, 10,000 at most. Label: `reader`, `sums` or `profiles`. */
  | 'reader_behind'
  /** Pages and tools that follow the rows now. */
  | 'followers'
  /** Rows and profiles that were deleted because of their age. */
  | 'expired'
  /** Rows behind the place of a target of an export. Label: `target`, its name. Looked at every 10 seconds. */
  | 'export_behind'
  /** Milliseconds for which the oldest of these rows has been stored. Label: `target`. */
  | 'export_delay_ms'
  /**
   * 1 a message that was sent because of rows with `notify`. Label: `outcome`, `delivered`, `retry`, `refused` (the address
   * is wrong) or `dropped` (the receiver refuses this message).
   */
  | 'notified';

export type OnMetric = (
  name: ServerMetric,
  value: number,
  labels?: Readonly<Record<string, string>>,
) => void;

/** Something that needs the operator. Holds no token, and of a body only a value that is not listed. */
export interface ServerError {
  /**
   * The first eight are reported once until they are over:
   * - `setup`: the service answers 401, or more than once in a row 403, 404, 405, a redirect or HTML.
   * - `unreachable`: the service gives no answer at all; the message has the cause.
   * - `service`: the service answers 408, 425, 429 or 5xx, more than once in a row.
   * - `records`: the service takes records, but refuses to take some.
   * - `token`: the token function failed, or gave what no header can carry.
   * - `store`: the database does not take records.
   * - `reading`: the database did not answer a reader; a search may take too long.
   * - `notify`: a target of notifications takes none.
   * - `unlisted`: records name a project or channel that is not listed; each value is reported once a day.
   * - `dropped`: rows were deleted by their age that a target of an export lacks, or the oldest of those that a target has
   *   refused, each reported once a minute at the most; or a message of notifications, which its receiver refuses; or the
   *   rows of a target of an export, whose table was dropped or emptied.
   * - `export`: a target of an export takes nothing, or is set up wrongly.
   * - `erasure`: rows were erased that a target of an export may have and cannot delete.
   * - `hook`: a function that was passed in failed.
   * - `fault`: a fault of the server itself.
   */
  kind:
    | ('setup' | 'unreachable' | 'service' | 'records' | 'token' | 'store' | 'reading')
    | ('unlisted' | 'dropped' | 'export' | 'erasure' | 'notify' | 'hook' | 'fault');
  message: string;
  /** HTTP status of the service, if there was an answer. */
  status?: number;
}

export type OnError = (error: ServerError) => void;

/** Called when a trouble is over that `onError` has reported. */
export type OnRecovery = (recovery: { kind: ServerError['kind']; lastedMs: number }) => void;

/** The hooks of an operator. */
export interface Hooks {
  /** Called with each number. @default none */
  onMetric?: OnMetric | undefined;
  /** Called with what needs the operator. @default none */
  onError?: OnError | undefined;
  /** Called when a trouble is over that `onError` has reported. @default none */
  onRecovery?: OnRecovery | undefined;
}

/**
 * Calls a hook, and hands on its error if it throws or rejects. On Node an unhandled rejection would end the process.
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
export const createTell = ({ onMetric, onError, onRecovery }: Hooks) => {
  const error = (problem: ServerError): void =>
    callSafely(
      () => onError?.(problem),
      () => {}, // nobody else can be told
    );
  const hookFailed = (name: string, thrown: unknown): void =>
    error({ kind: 'hook', message: `\`${name}\` failed: ${messageOf(thrown)}` });
  return {
    error,
    /** Calls another hook. */
    call: (name: string, hook: () => unknown): void =>
      callSafely(hook, (thrown) => hookFailed(name, thrown)),
    metric: (...args: Parameters<OnMetric>): void =>
      callSafely(
        () => onMetric?.(...args),
        (thrown) => hookFailed('onMetric', thrown),
      ),
    recovery: (over: Parameters<OnRecovery>[0]): void =>
      callSafely(
        () => onRecovery?.(over),
        () => {},
      ),
  };
};

export type Tell = ReturnType<typeof createTell>;

/** Reports a trouble once, and again only after it is over, which is reported as well. */
export const createReportOnce = (tell: Pick<Tell, 'error' | 'recovery'>, now: () => number) => {
  let reported: { kind: ServerError['kind']; since: number } | undefined;
  return {
    /** `since`: when it began, if that was before now. */
    tell: (error: ServerError, since = now()): void => {
      if (!reported) tell.error(error);
      reported ??= { kind: error.kind, since };
    },
    healed: (): void => {
      if (reported) tell.recovery({ kind: reported.kind, lastedMs: now() - reported.since });
      reported = undefined;
    },
  };
};
