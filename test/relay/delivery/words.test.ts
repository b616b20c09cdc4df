import { expect, it } from 'vitest';
import { createDelivery } from '../../../src/relay/delivery/delivery.js';
import { createSeenMemory } from '../../../src/relay/delivery/seen-memory.js';
import type { BatchResult } from '../../../src/interface/wire.js';
import type { DeliveryOptions } from '../../../src/relay.js';
import { event } from '../helpers/records.js';

/** The result of a record that is refused with a body, and what is remembered of it. */
const refused = async (
  options: Partial<DeliveryOptions>,
): Promise<[result: BatchResult, kept: BatchResult]> => {
  const kept: BatchResult[] = [];
  const memory = createSeenMemory();
  const { deliver } = createDelivery({
    ...{ baseUrl: 'https://in.example.com', token: 'secret', ...options },
    seen: { ...memory, finish: async (results) => void kept.push(...results) },
  });
  const [result] = await deliver([event('a')], { until: Date.now() + 60_000 });
  return [result!, kept[0]!];
};
const answering = (body: string) => ({ fetch: async () => new Response(body, { status: 400 }) });
const REFUSED = { outcome: 'rejected', status: 400 };

it.each([
  [`{"code":400,"message":"no secret${'!'.repeat(300)}"}`, `no …${'!'.repeat(196)}`],
  ['{"code":400,"message":{"a":1}}', undefined],
  ['{"code":400}', undefined],
  ['null', undefined],
  ['not good', undefined],
])(
  'passes on what the service says of a refusal, in bounds and without the token: %s',
  async (body, message) => {
    const [result, kept] = await refused(answering(body));
    expect(result).toEqual({ id: 'a', ...REFUSED, ...(message && { message }) });
    expect(kept).toEqual({ id: 'event:a:p', ...REFUSED });
  },
);

it('passes on what a function says of a refusal, in bounds', async () => {
  const message = 'x'.repeat(300);
  const [result] = await refused({
    send: async (records) =>
      records.map(() => ({ outcome: 'rejected' as const, status: 400, message })),
  });
  expect(result).toEqual({ id: 'a', ...REFUSED, message: 'x'.repeat(200) });
});
