import type { Part } from './types.js';

/** The visitor's device, coarsely: `device` (mobile or desktop), `width` of the window, and `language`. */
export const device = (): Part => () => () => ({
  device: matchMedia('(pointer:coarse)').matches ? 'mobile' : 'desktop',
  width: innerWidth,
  language: navigator.language,
});
