export { autocapture } from './capture/autocapture.js';
export type * from './capture/types.js';
