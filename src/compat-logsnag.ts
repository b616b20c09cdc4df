export { createLogSnag } from './compat/logsnag.js';
export { takeOverLogSnag } from './compat/take-over-logsnag.js';
export type { LogSnag, LogSnagGroup, LogSnagIdentify, LogSnagTrack } from './compat/logsnag.js';
export type { Target } from './compat/target.js';
