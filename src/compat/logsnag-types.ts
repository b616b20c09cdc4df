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
