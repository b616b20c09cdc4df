/** PostHog's documented calls that have a counterpart. None throws. */
export interface PostHog {
  /** The options of the instance count. */
  init(...options: unknown[]): void;
  /** An event whose tags are the properties. `$pageview` becomes `Page Viewed`, `$set` an identify. */
  capture(event: string, properties?: object | null, options?: { timestamp?: Date | string }): void;
  /** What is to be set once is not sent: the service decides what an update changes. */
  identify(userId: string, set?: object, setOnce?: object): void;
  /** It is about the identified user. */
  setPersonProperties(set?: object, setOnce?: object): void;
  /** An event `Group Joined` with the tags `type` and `key`. */
  group(type: string, key: string, properties?: object): void;
  /** Tags of all later events of this page. */
  register(properties: object): void;
  /** The same, for tags that have no value yet. */
  register_once(properties: object): void;
  register_for_session(properties: object): void;
  unregister(name: string): void;
  /** Forgets the user and the registered tags. */
  reset(): void;
  /** The identified user. */
  get_distinct_id(): string | undefined;
  opt_in_capturing(): void;
  opt_out_capturing(): void;
  has_opted_in_capturing(): boolean;
  has_opted_out_capturing(): boolean;
}
