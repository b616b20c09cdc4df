import { describe, expect, it, vi } from 'vitest';
import { advance } from '../../support/advance.js';
import { createDelivery, createDeliveryBy } from '../../support/create-delivery.js';
import { createFakeSender } from '../../support/fake-sender.js';
import { makeRecords } from '../../support/make-record.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';
import { readStored } from '../../support/stored.js';

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
    expect(service.open()).toHaveLength(5);
  });

  it('goes alone for half a second at the most', async () => {
    const { page, flusher, service } = await start();
    page.add(...makeRecords(5));
    flusher.flushAll();
    await advance(499);
    expect(service.ids()).toEqual(['r0']);
    await advance(1);
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

describe('the outbox says that a record is under way', () => {
  const flight = async () => (await readStored()).values.flatMap((value) => value.flight);
  /** A page whose first six requests were answered after so long. */
  const start = async (tookMs: number, concurrency = 6) => {
    const delivery = createDelivery(world.shelf, { concurrency });
    const { page, flusher, service } = delivery;
    flusher.pump();
    await settle();
    service.rule = () => 'hang';
    page.add(...makeRecords(60));
    flusher.flushAll();
    await settle();
    expect(await flight()).toEqual(service.open()); // how fast the service is, nobody knows yet
    await vi.advanceTimersByTimeAsync(tookMs);
    for (const id of service.open()) service.answer(id, 200);
    await settle(100);
    expect(service.open()).toHaveLength(concurrency);
    return delivery;
  };

  it.each([
    ['14 ahead, where the service is fast', 10, 6, 14],
    ['no more than it has answered in 50 ms', 100, 6, 3],
    ['fewer where fewer go at a time', 25, 2, 4],
    ['none ahead, where the service is slow', 301, 6, 0],
    ['14 ahead, where an answer takes no time', 0, 6, 14],
  ])('%s', async (_, tookMs, concurrency, ahead) => {
    const { service } = await start(tookMs, concurrency);
    const named = await flight();
    expect(named).toEqual(expect.arrayContaining(service.open()));
    expect(named).toHaveLength(concurrency + ahead);
  });

  it('in one transaction for all that are named together', async () => {
    const { service } = await start(10);
    const transactions = vi.spyOn(IDBDatabase.prototype, 'transaction');
    for (const id of service.open()) service.answer(id, 200);
    await settle();
    expect(service.ids()).toHaveLength(6 + 6 + 6);
    expect(transactions).not.toHaveBeenCalled();
  });
});
