import { describe, expect, it, vi } from 'vitest';
import { HOLD_MS } from '../../../src/client/outbox/context.js';
import { PARCEL_RECORDS } from '../../../src/client/outbox/parcel.js';
import { WINDOW } from '../../../src/client/outbox/stored.js';
import { advance } from '../../support/advance.js';
import { createDelivery, createDeliveryBy } from '../../support/create-delivery.js';
import { createPage } from '../../support/create-page.js';
import { deliveryEach } from '../../support/delivery-each.js';
import { createFakeBatchSender } from '../../support/fake-batch-sender.js';
import { makeRecord, makeRecords } from '../../support/make-record.js';
import { never } from '../../support/never.js';
import { settle } from '../../support/settle.js';

const { world, start } = deliveryEach();

describe('what is stored', () => {
  it('is read no further than can soon be sent', async () => {
    const window = PARCEL_RECORDS * WINDOW;
    const left = createPage(world.shelf);
    left.add(...makeRecords(2 * window));
    await settle(500);
    await advance(HOLD_MS);
    const { page, flusher, service } = createDelivery(world.shelf);
    service.rule = () => 'hang';
    flusher.pump();
    await settle(500);
    await advance(1_000);
    expect(service.open()).toHaveLength(6);
    expect(page.outbox.count()).toBe(window);
    service.answer('r0', 200);
    await advance(1_000);
    expect(page.outbox.count()).toBe(window - 1);
  });
});

describe('a caller of flush()', () => {
  it('waits for what was called before, and for nothing that was called since', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(makeRecord('before'));
    const done = vi.fn();
    void flusher.flush().then(done);
    page.add(makeRecord('since'));
    flusher.flushAll();
    await advance(100);
    expect(service.open()).toEqual(['before', 'since']);
    expect(done).not.toHaveBeenCalled();
    service.answer('before', 200);
    await advance(100);
    expect(done).toHaveBeenCalledTimes(1);
    expect(service.open()).toEqual(['since']);
  });

  it('waits no longer once delivery is stopped, whatever else is waited for', async () => {
    const { page, flusher, stop } = await start({ token: () => never });
    page.add(makeRecord('a'));
    const flushed = flusher.flush();
    stop();
    expect(await flushed).toMatchObject({ delivered: 0, waiting: 1 });
  });
});

describe('a page that was stopped', () => {
  it('takes nothing that others have left', async () => {
    const left = createPage(world.shelf);
    left.add(makeRecord('a'));
    await settle();
    await advance(HOLD_MS);
    const { page, flusher, stop } = createDelivery(world.shelf);
    stop();
    flusher.pump();
    await settle();
    expect(page.outbox.count()).toBe(0);
  });

  it('complains of no token', async () => {
    let fail: (error: Error) => void = () => undefined;
    const token = () => new Promise<string>((_, reject) => (fail = reject));
    const { page, flusher, errors, stop } = await start({ token: () => token });
    page.add(makeRecord('a'));
    flusher.flushAll();
    stop();
    fail(new Error('no session'));
    await settle();
    expect(errors).toEqual([]);
  });
});

describe('a request', () => {
  it('goes when the page holds all of its records for long enough', async () => {
    const { fake: relay, sender } = createFakeBatchSender();
    const { page, flusher } = createDeliveryBy(sender, world.shelf, { limits: { resends: true } });
    flusher.pump();
    page.add(makeRecord('old'));
    await advance(HOLD_MS - 10_000);
    page.add(makeRecord('new'));
    flusher.flushAll();
    expect(relay.sent).toEqual([]);
    await advance(100);
    expect(relay.sent).toEqual([['old', 'new']]);
  });

  it('is told to be a handoff where the page is left, and only there', async () => {
    const { page, flusher, service, handoffs } = await start();
    service.rule = () => 'hang';
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(100);
    page.add(makeRecord('b'));
    flusher.handOff();
    expect(service.ids()).toEqual(['a', 'b']);
    expect(handoffs).toEqual(['b']);
  });
});
