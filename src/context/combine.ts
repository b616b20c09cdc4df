import type { Instance, Known, Part } from './types.js';

/**
 * Makes the option `context` of parts. Nothing is stored or read before consent is granted.
 * @example analytics.init({ ...options, context: combine(analytics, page(), campaign()) })
 */
export const combine = (analytics: Instance, ...parts: Part[]): ((known?: Known) => object) => {
  const asks = parts.map((part) => part(analytics));
  return (known) => Object.assign({}, ...asks.map((ask) => ask(known))) as object;
};
