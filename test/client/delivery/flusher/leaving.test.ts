import { describe, expect, it, vi } from 'vitest';
import { HOLD_MS } from '../../../../src/client/outbox/context.js';
import { advance } from '../../../support/advance.js';
import { createDelivery } from '../../../support/create-delivery.js';
import { createPage } from '../../../support/create-page.js';
import { deliveryEach } from '../../../support/delivery-each.js';
import { makeIdentify, makeRecord, makeRecords } from '../../../support/make-record.js';
import { never } from '../../../support/never.js';
import { settle } from '../../../support/settle.js';

const { world, start } = deliveryEach();

describe('handing off', () => {
  it('starts every request before it returns', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(...makeRecords(20));
    flusher.handOff();
    expect(service.sent).toHaveLength(20);
  });

  it('starts no more requests than the browser carries', async () => {
    const { page, flusher, service } = await start();
    page.add(...makeRecords(300));
    flusher.handOff();
    expect(service.sent).toHaveLength(128);
    flusher.handOff();
    expect(service.sent).toHaveLength(128);
  });

  it('sends only what fits the budget', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(makeRecord('small'), makeRecord('big', { bytes: 50_000 }), makeRecord('small2'));
    service.room = 999;
    flusher.handOff();
    expect(service.ids()).toEqual(['small', 'small2']);
  });

  it('fills the budget to the last byte', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(makeRecord('a', { bytes: 300 }), makeRecord('b', { bytes: 200 }));
    service.room = 500;
    flusher.handOff();
    expect(service.ids()).toEqual(['a', 'b']);
  });

  it('sends no event before the identify of its user that does not fit', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(
      makeRecord('who', { type: 'identify', user: 'u', bytes: 50_000 }),
      makeRecord('event', { user: 'u' }),
      makeRecord('free'),
    );
    service.room = 999;
    flusher.handOff();
    expect(service.ids()).toEqual(['free']);
  });

  it('sends only the first identify of a user', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(makeIdentify('i1'), makeIdentify('i2'), makeIdentify('j1', 'v'));
    flusher.handOff();
    expect(service.ids()).toEqual(['i1', 'j1']);
  });

  it('sends nothing that is in flight again', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(...makeRecords(3));
    flusher.flushAll();
    flusher.handOff();
    flusher.handOff();
    expect(service.sent).toHaveLength(3);
  });

  it('does nothing when the service is known to fail', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 500;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    vi.setSystemTime(Date.now() + 10_000); // the penalty is over, the doubt is not
    flusher.handOff();
    expect(service.sent).toHaveLength(1);
  });

  it('goes on though the service is known to fail where it knows repeats', async () => {
    const { page, flusher, service } = await start({ limits: { resends: true } });
    service.rule = () => 500;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    page.add(makeRecord('b'));
    flusher.handOff();
    expect(service.ids()).toEqual(['a', 'a', 'b']);
  });

  it('does nothing where the service has asked for a wait', async () => {
    const { page, flusher, service } = await start({ limits: { resends: true } });
    service.rule = () => ({ status: 503, retryAfterMs: 60_000 });
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(59_000);
    flusher.handOff();
    expect(service.ids()).toEqual(['a']);
  });

  it('leaves to the next page a record that has just failed', async () => {
    const { page, flusher, service } = await start();
    service.rule = ({ id }) => (id === 'odd' ? 403 : 200);
    page.add(makeRecord('odd'));
    flusher.flushAll();
    await settle();
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(60_000);
    const tries = service.sent.length;
    while (service.sent.length === tries) await advance(500);
    page.add(makeRecord('b'));
    flusher.handOff();
    expect(service.ids().slice(tries)).toEqual(['odd', 'b']);
  });

  it('does nothing offline', async () => {
    const { page, flusher, service, world: state } = await start();
    state.isOnline = false;
    page.add(makeRecord('a'));
    flusher.handOff();
    expect(service.sent).toEqual([]);
  });

  it('does nothing without a token', async () => {
    const { page, flusher, service } = await start({ token: () => never });
    page.add(makeRecord('a'));
    flusher.handOff();
    expect(service.sent).toEqual([]);
  });

  it('does nothing while the set-up is wrong', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 401;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    flusher.handOff();
    expect(service.sent).toHaveLength(1);
  });

  it('leaves what failed while the page went away to who comes next', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(...makeRecords(2));
    await settle();
    flusher.handOff();
    service.isLeft = true;
    service.answer('r0', 0);
    await settle();
    page.outbox.leave(true);
    await settle();
    expect(service.sent).toHaveLength(2);
    const next = createPage(world.shelf);
    expect(await next.drain()).toEqual([]);
    expect([...page.unknown, ...next.unknown]).toEqual(['r0', 'r1']);
  });

  it('sends no identify beside one that is in flight still, and another page’s by now', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(makeIdentify('first'));
    flusher.flushAll();
    await settle();
    vi.setSystemTime(Date.now() + 2 * HOLD_MS);
    await (await start()).page.drain();
    page.outbox.look();
    page.add(makeIdentify('second'), makeIdentify('other', 'v'));
    flusher.handOff();
    expect(service.ids()).toEqual(['first', 'other']);
  });
});

describe('a page that was left and runs on', () => {
  it('sends what it records then, and once', async () => {
    const { page, flusher, service } = await start();
    page.outbox.leave(true);
    page.add(makeRecord('a'));
    await settle();
    await advance(HOLD_MS);
    flusher.flushAll();
    await settle();
    page.outbox.comeBack();
    flusher.flushAll();
    await advance(1_000);
    expect(service.ids()).toEqual(['a']);
  });
});

describe('a page that is back', () => {
  it('gives up what it left under way, and sends what others have left meanwhile', async () => {
    const left = createPage(world.shelf);
    left.add(makeRecord('a'));
    await settle();
    await advance(HOLD_MS);
    const { flusher, service } = createDelivery(world.shelf);
    flusher.comeBack();
    await advance(100);
    expect(service.isBack).toBe(true);
    expect(service.ids()).toEqual(['a']);
  });
});
