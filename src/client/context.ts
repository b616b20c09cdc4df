import type { Settings } from './config/options.js';
import type { CreateSender } from './delivery/sender.js';
import type { Emit, Tally } from './status.js';

/** What the parts of a pipeline share. */
export interface Context {
  /** Name of the destination, and of its database. Its keys in localStorage begin with it. */
  name: string;
  /** The key of its backoff in localStorage. */
  gateKey: string;
  /** As the last `init` of this destination has set them. */
  settings: () => Settings;
  createSender: CreateSender;
  emit: Emit;
  tally: Tally;
}
