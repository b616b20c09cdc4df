/** Never run, only compiled: by `npm run build`, where a `@ts-expect-error` without an error is one. */
import type { Putter, Queue, RelayOptions } from '../../src/relay.js';

declare const whole: Queue;

type QueueOption = NonNullable<RelayOptions['queue']>;

// All that a relay asks of a queue is `put`.
export const enough: QueueOption = { put: async () => {} };
export const alsoWhole: QueueOption = whole;
export const same: QueueOption = {} as Putter;
export const needed: (keyof QueueOption)[] = ['put'];

// @ts-expect-error a queue without `put`
export const none: QueueOption = {};
// @ts-expect-error `put` that settles before anything is durable
export const careless: QueueOption = { put: () => {} };
// @ts-expect-error what a consumer needs is more
export const forConsumer: Queue = enough;
// @ts-expect-error a relay asks for nothing else
export const more: (keyof QueueOption)[] = ['put', 'take'];
