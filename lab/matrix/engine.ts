import type { Evaluates } from '../../e2e/support/evaluates.js';
import type { Guest } from '../../e2e/support/guest.js';
import type { Site } from '../../e2e/support/site.js';

export const ENGINE_NAMES = ['chromium', 'firefox', 'webkit'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

/** What a run needs of its browser. */
export interface BrowserNeeds {
  /** It is killed or quit and started again on the same profile. */
  durable?: boolean;
  /**
   * No back/forward cache. In Chromium a page that goes into it comes out of the pretended offline a
   * moment before it is left.
   */
  forgetsPages?: boolean;
  /** A private window, as far as the engine has one. */
  isPrivate?: boolean;
  /** Hosts that resolve to this machine from the next start on; until then they are unknown. */
  host?: string;
  /** Requests to the service are blocked, as an extension does, until the browser is started again. */
  isBlocked?: boolean;
  /** Its first two tabs run in processes of their own, in every engine. */
  apart?: boolean;
  /** Its service workers are stopped. */
  canStopWorkers?: boolean;
}

export interface Ground extends BrowserNeeds {
  /** The profile. */
  folder: string;
  guest: Guest;
  site: Pick<Site, 'url' | 'handle'>;
  /** Address of the service. */
  baseUrl: string;
}

/** One page of a browser. */
export interface Tab extends Evaluates {
  /** Resolves once the page is loaded. */
  goto: (address: string) => Promise<void>;
  /** Runs what ends with the page going away: nobody waits for an answer. */
  leave: <Arg>(run: (arg: Arg) => void, arg: Arg) => Promise<void>;
  /** A tab that this page opens, and that may close itself. */
  popup: (address: string) => Promise<Tab>;
  /** Closes it as a user does. */
  close: () => Promise<void>;
  isClosed: () => boolean;
}

/** A running browser with a profile of its own. */
export interface Browser {
  newTab: () => Promise<Tab>;
  /** Takes the network away from all pages, or gives it back. */
  offline: (is: boolean) => Promise<void>;
  /** Kills the processes that run the pages, this instant. */
  crashPages: () => Promise<void>;
  /**
   * Stops the processes that run the pages so far, and answers what lets them go on. Missing where pages
   * to come would stand still with them. WebKitGTK stops the first of two tabs that are apart.
   */
  stopPages?: () => () => void;
  /** Opens a page in a browser beside this one that no protocol drives: a driven one neither prerenders nor discards. */
  openUndriven?: (address: string) => void;
  /** Stops all service workers. */
  stopWorkers: () => Promise<void>;
  /** Sizes of a page after a forced collection. */
  measure: (tab: Tab) => Promise<{ heapBytes: number; listeners: number; nodes: number }>;
  /** Ends the browser in its own way, pages open. */
  quit: () => Promise<void>;
  /** Kills all of its processes, this instant. */
  kill: () => Promise<void>;
  /** Starts it again on the same profile. */
  start: () => Promise<void>;
  /** Addresses of all requests so far, where the engine tells. */
  requests: readonly string[];
  /** Ends it, whatever state it is in. */
  dispose: () => Promise<void>;
}

/** A browser engine that rows run in. */
export interface Engine {
  name: EngineName;
  version: string;
  /** HTML that every page of the site has to begin with. */
  head: string;
  /** What is said of the way it is driven. */
  notes: readonly string[];
  open: (ground: Ground) => Promise<Browser>;
  close: () => Promise<void>;
}
