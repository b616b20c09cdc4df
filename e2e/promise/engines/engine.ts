import type { Evaluates } from '../../support/evaluates.js';
import type { Guest } from '../../support/guest.js';
import type { Site } from '../../support/site.js';

export type EngineName = 'chromium' | 'firefox' | 'webkit';

/** What a row needs of its browser. */
export interface BrowserNeeds {
  /** It is killed or quit and started again on the same profile. */
  durable?: boolean;
  /**
   * No back/forward cache. A page in Chromium that goes into it is online again for a moment before it is left,
   * although the network was taken away.
   */
  forgetsPages?: boolean;
  /** A private window, as far as the engine has one. */
  isPrivate?: boolean;
  /** A host that resolves to this machine once the browser is started again; until then it is unknown. */
  host?: string;
  /** Requests to the service are blocked, as by an extension, until the browser is started again. */
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
  open: (ground: Ground) => Promise<Browser>;
  close: () => Promise<void>;
}
