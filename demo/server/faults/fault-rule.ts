/** Which requests a rule is for: all of those `/v1/*` gets, narrowed by each part given. */
export interface FaultMatch {
  /** The whole path, such as `/v1/event`. */
  path?: string;
  /** The event name in the body. */
  event?: string;
  /** The user id in the body. */
  user_id?: string;
  /** A key that `properties` or `tags` has, or names and the values they must have there. */
  property?: string | Record<string, unknown>;
}

/** One way for the service to misbehave; the first rule that matches and has times left applies. */
export interface FaultRule {
  match?: FaultMatch;
  /**
   * Lets the first `n` matching requests pass; later rules may still take those.
   * @default 0
   */
  skip?: number;
  /**
   * How many requests it applies to.
   * @default for ever
   */
  times?: number;
  /** Answers this (200 to 599) in place of handling the request. */
  status?: number;
  /** Headers to set on the answer; `null` takes one away, such as a CORS header. */
  headers?: Record<string, string | null>;
  /** The body to answer with `status`: a string as it is, anything else as JSON. */
  body?: unknown;
  /** Milliseconds to wait before handling. With `after`, between storing and answering. */
  delay?: number;
  /** Never answers. */
  hang?: boolean;
  /** Resets the connection. */
  reset?: boolean;
  /** Handles the request first, so that it is stored, and then does the rest. */
  after?: boolean;
}
