/**
 * What Umami sends of a page, and hands to a function: that is given `hostname`, `language` and `screen`, too. Of these
 * `url`, `title`, `referrer`, `name` and `data` count here.
 */
export interface UmamiProps {
  /** It becomes the tag `path`, without its query. */
  url?: string;
  title?: string;
  referrer?: string;
  /** The name of an event; without it, it is a page view. */
  name?: string;
  /** They become tags. */
  data?: object;
  [more: string]: unknown;
}

/** Umami's documented calls. None throws, and none has to be waited for. */
export interface Umami {
  /** An event, with its data as tags; without a name an event `Page Viewed`. */
  track(
    what?: string | UmamiProps | ((props: UmamiProps) => UmamiProps | null | undefined),
    data?: object,
  ): Promise<void>;
  /** Identifies the user; without an id it is about the identified one. */
  identify(id: string | object, data?: object): Promise<void>;
}
