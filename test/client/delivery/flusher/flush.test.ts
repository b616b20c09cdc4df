import { describe, expect, it, vi } from 'vitest';
import { HOLD_MS } from '../../../../src/client/outbox/context.js';
import { PARCEL_RECORDS } from '../../../../src/client/outbox/parcel.js';
import { WINDOW } from '../../../../src/client/outbox/stored.js';
import { advance } from '../../../support/advance.js';
import { forbidOpening } from '../../../support/break-storage.js';
import { createDelivery } from '../../../support/create-delivery.js';
import { createPage, DATABASE } from '../../../support/create-page.js';
import { deliveryEach } from '../../../support/delivery-each.js';
import { makeIdentify, makeRecord, makeRecords } from '../../../support/make-record.js';
import { settle } from '../../../support/settle.js';
import { readStored } from '../../../support/stored.js';

const { world, start } = deliveryEach();
const slowMs = 300_000;

describe('a flush', () => {
  it('sends everything that waits, oldest first, six at a time', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(...makeRecords(10));
    flusher.flushAll();
    await advance(20);
    expect(service.ids()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4', 'r5']);
    service.answer('r3', 200);
    await advance(100);
    expect(service.ids().at(-1)).toBe('r6');
    expect(service.mostAtOnce).toBe(6);
  });

  it('starts one request a task, so that none is long', async () => {
    const { page, flusher, service } = await start({ limits: { resends: true } });
    service.rule = () => 'hang';
    page.add(...makeRecords(3));
    flusher.flushAll();
    expect(service.ids()).toEqual(['r0']);
    vi.advanceTimersToNextTimer();
    await settle();
    expect(service.ids()).toEqual(['r0', 'r1']);
    await advance(20);
    expect(service.ids()).toEqual(['r0', 'r1', 'r2']);
  });

  it('starts all at once in a hidden page, which may have no other task', async () => {
    const { page, flusher, service, world: state } = await start();
    service.rule = () => 'hang';
    state.isHidden = true;
    page.add(...makeRecords(3));
    flusher.flushAll();
    expect(service.ids()).toEqual(['r0', 'r1', 'r2']);
  });

  it('fills a free place soon, though others keep coming free', async () => {
    const { page, flusher, service } = await start({ limits: { resends: true } });
    service.rule = () => 'hang';
    page.add(...makeRecords(10));
    flusher.flushAll();
    await advance(20);
    for (const id of ['r0', 'r1']) {
      service.answer(id, 200);
      await vi.advanceTimersByTimeAsync(7);
    }
    expect(service.ids()).toHaveLength(8);
  });

  it('fills a place that came free while others were about to be started', async () => {
    const { page, flusher, service } = await start({ concurrency: 3 });
    service.rule = () => 'hang';
    page.add(...makeRecords(6));
    flusher.flushAll();
    await advance(20);
    expect(service.ids()).toEqual(['r0', 'r1', 'r2']);
    // The database does nothing meanwhile: r3 waits for it.
    for (const id of ['r0', 'r1']) {
      service.answer(id, 200);
      for (let i = 0; i < 20; i++) await Promise.resolve();
      vi.advanceTimersByTime(13);
    }
    expect(service.ids()).toEqual(['r0', 'r1', 'r2']);
    await advance(100);
    await advance(100);
    expect(service.open()).toEqual(['r2', 'r3', 'r4']);
  });

  it('delivers each record once and leaves nothing behind', async () => {
    const { page, flusher, service } = await start();
    page.add(...makeRecords(40));
    flusher.flushAll();
    await advance(2_000);
    expect(service.ids().sort()).toEqual(
      makeRecords(40)
        .map(({ id }) => id)
        .sort(),
    );
    expect((await readStored()).keys).toEqual([]);
  });

  it('starts no request before the outbox says that it is under way', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(...makeRecords(3));
    flusher.flushAll();
    expect(service.ids()).toEqual([]);
    expect(flusher.inFlight()).toBe(0);
    await advance(20);
    expect(service.ids()).toEqual(['r0', 'r1', 'r2']);
    expect((await readStored()).values[0]).toMatchObject({ flight: ['r0', 'r1', 'r2'] });
  });

  it('waits no longer than a tenth of a second for that', async () => {
    const { page, flusher, service } = await start();
    page.dropWrites();
    page.add(makeRecord('a'));
    flusher.flushAll();
    await vi.advanceTimersByTimeAsync(99);
    expect(service.ids()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(service.ids()).toEqual(['a']);
  });

  it('does not wait for that where repeats are known', async () => {
    const { page, flusher, service } = await start({ limits: { resends: true } });
    page.add(makeRecord('a'));
    flusher.flushAll();
    expect(service.ids()).toEqual(['a']);
  });

  it('does not wait for that as the page is left, nor while it is hidden', async () => {
    const { page, flusher, service, world: state } = await start();
    service.rule = () => 'hang';
    page.add(makeRecord('a'));
    flusher.flushAll();
    expect(service.ids()).toEqual([]);
    flusher.handOff();
    expect(service.ids()).toEqual(['a']);
    state.isHidden = true;
    page.add(makeRecord('b'));
    flusher.flushAll();
    expect(service.ids()).toEqual(['a', 'b']);
    await settle();
    expect(service.ids()).toEqual(['a', 'b']);
  });

  it('says nothing of a record as under way once delivery pauses', async () => {
    const { page, flusher, service, gate } = await start();
    page.add(makeRecord('a'));
    flusher.flushAll();
    gate.close(0); // by another page
    flusher.pump();
    await settle();
    expect(service.ids()).toEqual([]);
    expect((await readStored()).values[0]).toMatchObject({ flight: [] });
  });

  it('looks again after the wait whether the destination may be asked', async () => {
    const { page, flusher, service, gate } = await start();
    page.add(makeRecord('a'));
    flusher.flushAll();
    gate.close(10_000); // by another page
    await settle();
    expect(service.ids()).toEqual([]);
    await advance(20_000);
    expect(service.ids()).toEqual(['a']);
  });

  it('does not wait for storage that is missing', async () => {
    forbidOpening();
    const { page, flusher, service } = createDelivery(world.shelf);
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    expect(service.ids()).toEqual(['a']);
  });

  it('asks for the concurrency that was chosen', async () => {
    const { page, flusher, service } = await start({ concurrency: 2 });
    service.rule = () => 'hang';
    page.add(...makeRecords(5));
    flusher.flushAll();
    await advance(20);
    expect(service.open()).toHaveLength(2);
  });

  it('sends what it absorbed from a note', async () => {
    const left = createPage(world.shelf);
    forbidOpening();
    left.add(...makeRecords(2));
    await settle();
    left.outbox.leave(true);
    await settle();
    expect(world.shelf.keys()).toHaveLength(1);
    const { service } = await start();
    await advance(1_000);
    expect(service.ids()).toEqual(['r0', 'r1']);
  });

  it('goes on to what is free behind a user whose identify keeps failing', async () => {
    const left = createPage(world.shelf);
    const behind = makeRecords(PARCEL_RECORDS * WINDOW + 20, 'behind', { user: 'u' });
    left.add(makeRecord('poison', { type: 'identify', user: 'u' }), ...behind, makeRecord('free'));
    await settle();
    await advance(HOLD_MS);
    const { page, flusher, service } = createDelivery(world.shelf);
    service.rule = ({ id }) => (id === 'poison' ? 500 : 200);
    for (const id of ['mine', 'mine too']) {
      page.add(makeRecord(id));
      flusher.flushAll();
      await advance(20_000);
    }
    const others = service.ids().filter((id) => id !== 'poison');
    expect(others.sort()).toEqual(['free', 'mine', 'mine too']);
  });

  it('sends what a killed page left', async () => {
    const left = createPage(world.shelf);
    left.add(...makeRecords(2));
    await settle();
    await advance(HOLD_MS);
    const { service } = await start();
    await advance(1_000);
    expect(service.ids()).toEqual(['r0', 'r1']);
  });

  it('sends what it made after it had lost its lease, as soon as it has looked', async () => {
    const frozen = await start();
    frozen.service.rule = () => 503;
    frozen.page.add(makeRecord('a'));
    frozen.flusher.flushAll();
    await settle();
    vi.setSystemTime(Date.now() + 2 * HOLD_MS);
    const other = await start();
    await advance(2_000);
    expect(other.service.ids()).toEqual(['a']);
    frozen.service.rule = () => 200;
    frozen.page.add(makeRecord('b'));
    frozen.flusher.flushAll();
    await advance(2_000);
    expect(frozen.service.ids()).toEqual(['a', 'b']);
    expect(frozen.page.outbox.count()).toBe(0);
  });

  it('drops what is older than maxAge instead of sending it', async () => {
    const { page, flusher, service } = await start({ limits: { maxAge: 1_000 } });
    page.add(makeRecord('old', { at: Date.now() - 1_001 }), makeRecord('young'));
    flusher.flushAll();
    await settle();
    expect(service.ids()).toEqual(['young']);
    expect(page.drops).toEqual([{ id: 'old', reason: 'expired' }]);
  });
});

it('drops what is older than maxAge behind what is not', async () => {
  const { page, flusher, service } = await start({ limits: { maxAge: 1_000 } });
  page.add(makeRecord('young'), makeRecord('old', { at: Date.now() - 1_001 }), makeRecord('new'));
  flusher.flushAll();
  await settle();
  expect(service.ids()).toEqual(['young', 'new']);
  expect(page.drops).toEqual([{ id: 'old', reason: 'expired' }]);
});

describe('identifies', () => {
  it('of one user go one at a time and in order, before the events after them', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(
      makeIdentify('i1'),
      makeRecord('e1', { user: 'u' }),
      makeIdentify('i2'),
      makeRecord('free'),
    );
    flusher.flushAll();
    await advance(20);
    expect(service.ids()).toEqual(['i1', 'free']);
    service.answer('i1', 200);
    await advance(100);
    await advance(20);
    expect(service.ids()).toEqual(['i1', 'free', 'e1', 'i2']);
  });

  it('that fail keep their place', async () => {
    const { page, flusher, service } = await start();
    service.rule = ({ id }) => (id === 'i1' && service.sent.length === 1 ? 500 : 200);
    page.add(makeIdentify('i1'), makeIdentify('i2'));
    flusher.flushAll();
    await advance(10_000);
    expect(service.ids()).toEqual(['i1', 'i1', 'i2']);
  });

  it('wait for older ones of another page that are not read yet', async () => {
    const left = createPage(world.shelf);
    left.add(makeIdentify('old'));
    await settle();
    await advance(HOLD_MS);
    const delivery = createDelivery(world.shelf);
    delivery.page.add(makeIdentify('new'));
    delivery.flusher.flushAll();
    await advance(1_000);
    expect(delivery.service.ids()).toEqual(['old', 'new']);
  });
});

describe('an identify in flight that another page has taken over meanwhile', () => {
  it('still goes before the events after it', async () => {
    const frozen = await start();
    const { page, flusher, service } = frozen;
    service.rule = () => 'hang';
    page.add(makeIdentify('i'));
    flusher.flushAll();
    await settle();
    vi.setSystemTime(Date.now() + 2 * HOLD_MS);
    await (await start()).page.drain();
    page.outbox.look();
    expect(page.waiting()).toEqual([]);
    page.add(makeRecord('after', { user: 'u' }), makeRecord('other', { user: 'w' }));
    flusher.flushAll();
    await advance(200);
    expect(service.ids()).toEqual(['i', 'other']);
    service.answer('i', 200);
    page.outbox.look();
    await advance(200);
    expect(service.ids()).toEqual(['i', 'other', 'after']);
  });
});

describe('a clock that is set back', () => {
  const year = 365 * 86_400_000;

  it.each([
    ['while the set-up is wrong', () => 401],
    ['while nothing answers', () => 0],
    ['under a penalty', () => 500],
  ])('%s neither stops delivery for long nor spins', async (_, rule) => {
    const { page, flusher, service } = await start();
    service.rule = rule;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(10_000);
    vi.setSystemTime(Date.now() - year);
    const timers = vi.spyOn(globalThis, 'setTimeout');
    service.rule = () => 200;
    await advance(2 * slowMs);
    expect(timers.mock.calls.length).toBeLessThan(2_000);
    expect(page.outbox.count()).toBe(0);
  });
});

describe('stopping', () => {
  it('takes no more records of other pages', async () => {
    const left = createPage(world.shelf);
    left.add(...makeRecords(3));
    await settle();
    left.outbox.leave(true);
    await settle();
    const ended = createDelivery(world.shelf);
    ended.flusher.pump();
    ended.page.outbox.leave(true);
    ended.stop();
    await settle();
    const next = await start();
    await advance(1_000);
    expect(next.service.ids()).toEqual(['r0', 'r1', 'r2']);
  });

  it('leaves no timer behind', async () => {
    const { page, flusher, service, stop } = await start();
    service.rule = () => 503;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(100);
    expect(vi.getTimerCount()).toBe(1);
    stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('sends nothing any more', async () => {
    const { page, flusher, service, stop } = await start();
    stop();
    page.add(makeRecord('a'));
    flusher.flushAll();
    flusher.handOff();
    flusher.resume();
    await advance(10_000);
    expect(service.sent).toEqual([]);
  });
});

it('survives a note that is none', async () => {
  world.shelf.values.set(`${DATABASE} note x`, '{}');
  forbidOpening();
  const { page, flusher } = createDelivery(world.shelf);
  page.add(makeRecord('a'));
  const flushed = flusher.flush();
  await advance(1_000);
  expect(await flushed).toMatchObject({ delivered: 1 });
});
