import type { Reply } from './server.js';

/** What a client can do and see in the world. */
export interface World {
  now: () => number;
  random: () => number;
  /** Runs the job this many milliseconds later. */
  after: (ms: number, job: () => void) => void;
  /** One request of a client with one record. Without a signal it is given up after 30 s. */
  send: (client: number, settle: (reply: Reply) => void, signal?: AbortSignal) => void;
  /** Whether this client has a network. */
  isOnline: (client: number) => boolean;
  /** A record is stored. */
  delivered: () => void;
}

/** The page that a client has open. */
export interface Client {
  /** Takes a record. */
  call: () => void;
  /** The visitor goes to another page of the site, which takes over what waits. */
  navigate: () => void;
  /** The network is back. */
  online: () => void;
}

export type CreateClient = (client: number, world: World) => Client;
