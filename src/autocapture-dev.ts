import { autocapture as capture } from './capture/autocapture.js';
import { isPage } from './client/page.js';
import { captureProblems } from './dev/capture.js';
import { createSay } from './dev/say.js';

const say = /* @__PURE__ */ createSay();

export const autocapture: typeof capture = (analytics, options) => {
  if (isPage()) captureProblems({ ...options }).forEach(say);
  return capture(analytics, options);
};
export type * from './capture/types.js';
