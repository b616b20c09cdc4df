import { killOutbox } from './kill-outbox.js';
import { error, hang, limit, lostAnswer, refuse, slow, token, unplug } from './service-trouble.js';
import type { Scene } from './stage.js';
import { burst, leave } from './traffic.js';
import { wrongCalls } from './wrong-calls.js';

/** By the `data-scene` of their forms. */
export const SCENES: Readonly<Record<string, Scene>> = {
  burst,
  leave,
  error,
  limit,
  hang,
  token,
  refuse,
  unplug,
  slow,
  'lost-answer': lostAnswer,
  outbox: killOutbox,
  wrong: wrongCalls,
};
