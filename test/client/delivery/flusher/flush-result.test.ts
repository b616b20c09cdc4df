import { describe, expect, it, vi } from 'vitest';
import { HOLD_MS } from '../../../../src/client/outbox/context.js';
import { advance } from '../../../support/advance.js';
import { createDelivery } from '../../../support/create-delivery.js';
import { createPage } from '../../../support/create-page.js';
import { deliveryEach } from '../../../support/delivery-each.js';
import { makeRecord, makeRecords } from '../../../support/make-record.js';
import { settle } from '../../../support/settle.js';

const { world, start } = deliveryEach();

describe('flush()', () => {
  const result = { delivered: 0, retried: 0, rejected: 0, waiting: 0 };

  it('settles with nothing where nothing waits', async () => {
    const { flusher } = await start();
    expect(await flusher.flush()).toEqual(result);
  });

  it('settles when everything has had its attempt', async () => {
    const { page, flusher, service } = await start();
    service.rule = ({ id }) => (id === 'r1' ? 400 : 200);
    page.add(...makeRecords(20));
    const flushed = flusher.flush();
    await advance(1_000);
    expect(await flushed).toEqual({ ...result, delivered: 19, rejected: 1 });
  });

  it('waits for what is in flight already', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(makeRecord('a'));
    flusher.flushAll();
    const done = vi.fn();
    void flusher.flush().then(done);
    await advance(1_000);
    expect(done).not.toHaveBeenCalled();
    service.answer('a', 200);
    await settle();
    expect(done).toHaveBeenCalledWith({ ...result, delivered: 1 });
  });

  it('settles under a penalty', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(...makeRecords(8));
    const flushed = flusher.flush();
    await advance(20);
    for (const id of service.open()) service.answer(id, 503);
    expect(await flushed).toEqual({ ...result, retried: 6, waiting: 8 });
    expect(await flusher.flush()).toEqual({ ...result, waiting: 8 });
  });

  it('settles with a wrong set-up', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 401;
    page.add(makeRecord('a'));
    const flushed = flusher.flush();
    await settle();
    expect(await flushed).toEqual({ ...result, retried: 1, waiting: 1 });
    expect(await flusher.flush()).toEqual({ ...result, waiting: 1 });
  });

  it('settles when nothing answers', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 0;
    page.add(makeRecord('a'));
    for (let i = 0; i < 3; i++) {
      const flushed = flusher.flush();
      await advance(1_500);
      expect((await flushed).waiting).toBe(1);
    }
    expect(flusher.pause()[0]).toBe('unreachable');
    expect(await flusher.flush()).toEqual({ ...result, waiting: 1 });
  });

  it('settles when delivery is stopped', async () => {
    const { page, flusher, service, stop } = await start();
    service.rule = () => 'hang';
    page.add(makeRecord('a'));
    const flushed = flusher.flush();
    await settle();
    stop();
    expect((await flushed).delivered).toBe(0);
    expect(service.aborted).toBe(true);
  });

  it('counts what another page had left', async () => {
    const left = createPage(world.shelf);
    left.add(...makeRecords(150));
    await settle(500);
    await advance(HOLD_MS);
    const { flusher, service } = createDelivery(world.shelf);
    const flushed = flusher.flush();
    await advance(3_000);
    expect(service.sent).toHaveLength(150);
    expect(await flushed).toEqual({ ...result, delivered: 150 });
  });

  it('sends what waits longer than the rest is held up for', async () => {
    const { page, flusher } = await start();
    page.add(makeRecord('a'));
    const [first, second] = [flusher.flush(), flusher.flush()];
    await advance(1_000);
    expect(await first).toMatchObject({ waiting: 0 });
    expect(await second).toMatchObject({ waiting: 0 });
  });
});
