export { createUmami } from './compat/umami.js';
export { takeOverUmami } from './compat/take-over-umami.js';
export type { Umami, UmamiProps } from './compat/umami.js';
export type { Target } from './compat/target.js';
