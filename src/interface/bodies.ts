/** The two operations of the service. */
export type RecordType = 'identify' | 'event';

/** Body of `POST /v1/identify`. */
export interface IdentifyBody {
  project: string;
  user_id: string;
  properties: object;
}

/** Body of `POST /v1/event`. */
export interface EventBody {
  project: string;
  channel: string;
  event: string;
  description?: string;
  icon?: string;
  notify?: boolean;
  tags?: object;
  user_id?: string;
  /** The time of the call, or the one given, as ISO 8601 in UTC with milliseconds. */
  timestamp: string;
}

/** A token, or a function that gives one. It is called again, once, after a 401. */
export type Token = string | (() => string | Promise<string>);
