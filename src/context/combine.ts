import type { Instance, Part } from './types.js';

/**
 * Makes the option `context` of parts. Nothing is stored or read before consent is granted.
 * @example analytics.init({ ...options, context: combine(analytics, page(), campaign()) })
 */
export const combine = (analytics: Instance, ...parts: Part[]): (() => object) => {
  const asks = parts.map((part) => part(analytics));
  return () => Object.assign({}, ...asks.map((ask) => ask())) as object;
};
