import type { Settings } from './config/options.js';
import type { CreateSender } from './delivery/sender.js';
import type { Emit, Tally } from './status.js';

/** What the parts of a pipeline share. */
export interface Context {
  /** Name of the destination and of its database. All its keys in localStorage begin with this name. */
  name: string;
  /** The key in localStorage of the gate, which all pages share. */
  gateKey: string;
  /** The options of the last `init` of this destination. */
  settings: () => Settings;
  createSender: CreateSender;
  emit: Emit;
  tally: Tally;
}
