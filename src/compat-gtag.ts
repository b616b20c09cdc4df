export { createGtag } from './compat/gtag.js';
export { takeOverGtag } from './compat/take-over-gtag.js';
export type { Gtag } from './compat/gtag.js';
export type * from './compat/target.js';
