/** What Plausible takes beside the name of an event. */
export interface PlausibleOptions {
  /** They become tags. */
  props?: object;
  /** They become the tags `amount` and `currency`. */
  revenue?: { amount: number | string; currency: string };
  /** Called at once, as if the service had answered 202: the outbox has the event. */
  callback?: (result: { status: number }) => unknown;
  /** The address of a page view, without its query. @default the page's own */
  url?: string;
  /** Not sent: there is no bounce rate. */
  interactive?: boolean;
}

/** What of `plausible.init` counts here. */
export interface PlausibleConfig {
  /** Tags of every event, or a function that makes them. */
  customProperties?: object | ((eventName: string) => object);
}

/** Plausible's documented function. It does not throw. */
export interface Plausible {
  /** An event. `pageview` becomes `Page Viewed`. */
  (name: string, options?: PlausibleOptions): void;
  init(config?: PlausibleConfig): void;
}
