export { anonymousId, anonymousUser } from './context/anonymous-id.js';
export { campaign } from './context/campaign.js';
export { combine } from './context/combine.js';
export { device } from './context/device.js';
export { page } from './context/page.js';
export { session } from './context/session.js';
export type * from './context/types.js';
