/** PostHog's documented calls that have a counterpart. None throws. */
export interface PostHog {
  /** The options of the instance count. Of those given here `loaded` is called. */
  init(token?: string, config?: object | null): PostHog;
  /**
   * An event whose tags are the properties. `$pageview` becomes `Page Viewed`, `$set` an identify, and `$pathname` or
   * `$current_url` the tag `path`.
   */
  capture(
    event: string,
    properties?: object | null,
    options?: { timestamp?: Date | string; $set?: object },
  ): void;
  /** What is to be set once is not sent: the service decides what an update changes. */
  identify(userId: string, set?: object, setOnce?: object): void;
  /** It is about the identified user. */
  setPersonProperties(set?: object, setOnce?: object): void;
  /** The older form of it. */
  people: {
    set(what: string | object, value?: unknown): void;
    /** Refused. */
    set_once(what: string | object, value?: unknown): void;
  };
  /** An event `Group Joined` with the tags `type` and `key`. */
  group(type: string, key: string, properties?: object): void;
  /** Tags of all later events of this page. */
  register(properties: object): void;
  /** The same, for tags that have no value yet. */
  register_once(properties: object): void;
  register_for_session(properties: object): void;
  unregister(name: string): void;
  unregister_for_session(name: string): void;
  /** The value of a registered tag. */
  get_property(name: string): unknown;
  getSessionProperty(name: string): unknown;
  /** Forgets the user and the registered tags. */
  reset(): void;
  /** The identified user. */
  get_distinct_id(): string | undefined;
  opt_in_capturing(): void;
  opt_out_capturing(): void;
  has_opted_in_capturing(): boolean;
  has_opted_out_capturing(): boolean;
  is_capturing(): boolean;
  get_explicit_consent_status(): 'granted' | 'denied' | 'pending';
  /** Makes the call of an entry of the snippet's list. */
  push(call: [method: string, ...args: unknown[]]): void;
}
