import { createDirectSender } from './direct-sender.js';
import { createRelaySender } from './relay-sender.js';
import type { CreateSender } from './sender.js';

/** By the form of the options; a destination keeps to one. */
export const createAnySender: CreateSender = (effects) =>
  (effects.settings().relay ? createRelaySender : createDirectSender)(effects);
