import { describe, expect, it, vi } from 'vitest';
import { advance } from '../../support/advance.js';
import { createDelivery, createDeliveryBy } from '../../support/create-delivery.js';
import { createFakeBatchSender, DELIVERED } from '../../support/fake-batch-sender.js';
import { createFakeSender } from '../../support/fake-sender.js';
import { makeRecord, makeRecords } from '../../support/make-record.js';
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

it('outlives the page up to the last byte that the browser carries then', async () => {
  const { page, flusher, service } = createDelivery(world.shelf);
  service.room = 500;
  page.add(makeRecord('fits', { bytes: 500 }), makeRecord('does not', { bytes: 501 }));
  flusher.flushAll();
  await advance(100);
  expect(service.sent).toMatchObject([
    { id: 'fits', keepalive: true },
    { id: 'does not', keepalive: false },
  ]);
});

describe('a hidden page', () => {
  it('goes on with what waits, as answers come', async () => {
    const { page, flusher, service, world: state } = createDelivery(world.shelf);
    state.isHidden = true;
    page.add(...makeRecords(20));
    flusher.flushAll();
    await advance(200);
    expect(service.ids()).toHaveLength(20);
  });

  it.each([
    ['does not send what it has given to the browser', true, 1],
    ['sends that when it is shown again', false, 2],
  ])('%s', async (_, isHidden, times) => {
    const { fake: relay, sender } = createFakeBatchSender();
    const choices = { limits: { resends: true } };
    const { page, flusher, world: state } = createDeliveryBy(sender, world.shelf, choices);
    relay.rule = (batch) => (relay.sent.length === 1 ? 'left' : batch.map(() => DELIVERED));
    flusher.pump();
    await settle();
    state.isHidden = isHidden;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(1_000);
    expect(relay.ids()).toEqual(Array(times).fill('a'));
  });
});
