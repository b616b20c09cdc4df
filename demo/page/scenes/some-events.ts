import type { DemoEvent } from '../calls/caller.js';

const NAMES = ['Page Viewed', 'Product Viewed', 'Added to Cart', 'Checkout Started', 'Paid'];

/** As many events as wanted, of the kinds a shop would send. */
export const someEvents = (count: number, scene: string): DemoEvent[] =>
  Array.from({ length: count }, (_, i) => ({
    name: NAMES[i % NAMES.length]!,
    fields: { tags: { scene, n: i + 1 } },
  }));
