export { createPlausible } from './compat/plausible.js';
export { takeOverPlausible } from './compat/take-over-plausible.js';
export type {
  Plausible,
  PlausibleConfig,
  PlausibleOptions,
  PlausibleRequest,
} from './compat/plausible.js';
export type { Target } from './compat/target.js';
