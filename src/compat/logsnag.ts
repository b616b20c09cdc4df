import { refuse } from './refuse.js';
import type { Target } from './target.js';

/** What LogSnag calls an event. */
export interface LogSnagTrack {
  /** @default the option `channel` */
  channel?: string;
  event: string;
  description?: string;
  /** @default the user of `setUserId` or `identify` */
  user_id?: string;
  icon?: string;
  notify?: boolean;
  tags?: Record<string, string | number | boolean>;
  /** Unix time in seconds, a Date or ISO 8601. @default now */
  timestamp?: number | Date | string;
  /** Not sent: the service has no such field. */
  parser?: 'markdown' | 'text';
}

export interface LogSnagIdentify {
  /** @default the user of `setUserId` */
  user_id?: string;
  properties: object;
}

export interface LogSnagGroup {
  user_id?: string;
  group_id: string;
  properties?: object;
}

/** The documented calls of LogSnag's clients for pages, and of its client for Node. None throws. */
export interface LogSnag {
  /** Answers true: the outbox has it. */
  track(options: LogSnagTrack): Promise<boolean>;
  identify(options: LogSnagIdentify): Promise<boolean>;
  /** An event `Group Joined` with the tag `group_id`. */
  group(options: LogSnagGroup): Promise<boolean>;
  /** Identifies the user, unless it is the one who is known already; null is a logout. */
  setUserId(userId: string | null): void;
  clearUserId(): void;
  /** Does nothing: use the option `debug`. */
  setDebug(isOn?: boolean): void;
  /** Calls do nothing until `enableTracking`. */
  disableTracking(): void;
  enableTracking(): void;
  isTrackingDisabled(): boolean;
}

/** Numbers above this one (the year 5138, in seconds) are milliseconds. */
const LAST_SECONDS = 1e11;

const timeOf = (given: LogSnagTrack['timestamp']): LogSnagTrack['timestamp'] =>
  typeof given === 'number' && given < LAST_SECONDS ? given * 1_000 : given;

/**
 * LogSnag's documented calls, over an instance.
 * @example createLogSnag(analytics).track({ channel: 'payments', event: 'Paid', icon: '💰' });
 */
export const createLogSnag = (analytics: Target): LogSnag => {
  let isDisabled = false;
  /** As set here. It counts until delivery has started, since until then the status knows no user. */
  let user: string | undefined;
  const userId = () => {
    const { paused, userId: known } = analytics.status();
    return paused === 'not-started' ? (known ?? user) : known;
  };

  const method =
    <Options>(run: (options: Options) => void) =>
    async (options: Options): Promise<boolean> => {
      if (!isDisabled) run(options ?? ({} as Options)); // such as a call without any
      return true;
    };

  const setUserId = (id: string | null = null): void => {
    // One that is only known here may have been reset since.
    if (isDisabled || id === analytics.status().userId) return;
    user = id ?? undefined;
    if (id === null) analytics.reset();
    else analytics.identify(id);
  };

  const insight = async (): Promise<boolean> => {
    refuse(analytics, 'insight');
    return false;
  };

  const logsnag: LogSnag = {
    track: method(({ event: name, user_id: userId, timestamp, ...fields }) =>
      analytics.event(name, { ...fields, parser: undefined, userId, timestamp: timeOf(timestamp) }),
    ),
    identify: method(({ user_id = userId(), properties }) =>
      analytics.identify((user = user_id) as string, properties),
    ),
    group: method(({ user_id: userId, group_id, properties }) =>
      analytics.event('Group Joined', { userId, tags: { group_id, ...properties } }),
    ),
    setUserId,
    clearUserId: () => setUserId(),
    setDebug: () => undefined,
    disableTracking: () => void (isDisabled = true),
    enableTracking: () => void (isDisabled = false),
    isTrackingDisabled: () => isDisabled,
  };
  return Object.assign(logsnag, {
    insight: { track: insight, increment: insight },
    insightTrack: insight,
    insightIncrement: insight,
  });
};
