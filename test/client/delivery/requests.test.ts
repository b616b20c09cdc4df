import { describe, expect, it, vi } from 'vitest';
import { advance } from '../../support/advance.js';
import { createDeliveryBy } from '../../support/create-delivery.js';
import { createFakeSender } from '../../support/fake-sender.js';
import { makeRecords } from '../../support/make-record.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';

const world = storageEach();

describe('to another origin, the first request', () => {
  /** Nothing else to wait for but a preflight. */
  const start = async () => {
    const { fake: service, sender } = createFakeSender(() => 'tok');
    const choices = { limits: { resends: true } };
    const delivery = createDeliveryBy({ ...sender, hasPreflight: true }, world.shelf, choices);
    delivery.flusher.pump();
    await settle();
    service.rule = () => 'hang';
    return { ...delivery, service };
  };

  it('goes alone until it is answered, and none does after it', async () => {
    const { page, flusher, service } = await start();
    page.add(...makeRecords(5));
    flusher.flushAll();
    await advance(400);
    expect(service.ids()).toEqual(['r0']);
    service.answer('r0', 200);
    await advance(20);
    expect(service.ids()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
    for (const id of service.open()) service.answer(id, 200);
    await advance(100);
    page.add(...makeRecords(5, 'later'));
    flusher.flushAll();
    await advance(20);
    expect(service.open()).toHaveLength(5);
  });

  it('goes alone for half a second at the most', async () => {
    const { page, flusher, service } = await start();
    page.add(...makeRecords(5));
    flusher.flushAll();
    await advance(499);
    expect(service.ids()).toEqual(['r0']);
    await advance(20);
    expect(service.ids()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
  });

  it('goes beside all others as the page is left', async () => {
    const { page, flusher, service } = await start();
    page.add(...makeRecords(5));
    flusher.flushAll();
    flusher.handOff();
    expect(service.open()).toHaveLength(5);
  });

  it('is not waited for in a loop', async () => {
    const { page, flusher, service } = await start();
    page.add(...makeRecords(2));
    flusher.flushAll();
    service.answer('r0', 200);
    await advance(100);
    const timers = vi.spyOn(globalThis, 'setTimeout');
    await advance(10_000);
    expect(service.open()).toEqual(['r1']);
    expect(timers.mock.calls.length).toBeLessThan(20);
  });
});
