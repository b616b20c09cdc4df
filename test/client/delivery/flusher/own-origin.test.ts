import { describe, expect, it } from 'vitest';
import { advance } from '../../../support/advance.js';
import { deliveryEach } from '../../../support/delivery-each.js';
import { makeRecord, makeRecords } from '../../../support/make-record.js';

const { start } = deliveryEach();

const onOwnOrigin = (choices: Parameters<typeof start>[0] = {}) =>
  start({ ...choices, limits: { resends: true }, isOwnOrigin: true });

describe('to the page’s own origin', () => {
  it('two requests go at a time', async () => {
    const { page, flusher, service } = await onOwnOrigin();
    service.rule = () => 'hang';
    page.add(...makeRecords(5));
    flusher.flushAll();
    await advance(20);
    expect(service.open()).toEqual(['r0', 'r1']);
    service.answer('r0', 200);
    await advance(100);
    expect(service.open()).toEqual(['r1', 'r2']);
  });

  it('one goes at a time where that is wanted', async () => {
    const { page, flusher, service } = await onOwnOrigin({ concurrency: 1 });
    service.rule = () => 'hang';
    page.add(...makeRecords(5));
    flusher.flushAll();
    expect(service.open()).toEqual(['r0']);
  });

  it('nothing more goes while one has had no answer for two seconds', async () => {
    const { page, flusher, service } = await onOwnOrigin();
    service.rule = ({ id }) => (id === 'r0' ? 'hang' : 200);
    page.add(makeRecord('r0'));
    flusher.flushAll();
    await advance(1_999);
    page.add(makeRecord('in time'));
    flusher.flushAll();
    await advance(1);
    page.add(makeRecord('late'));
    flusher.flushAll();
    await advance(10_000);
    expect(service.ids()).toEqual(['r0', 'in time']);
    service.answer('r0', 200);
    await advance(100);
    expect(service.ids()).toEqual(['r0', 'in time', 'late']);
  });

  it('all that fits is handed off as the page goes', async () => {
    const { page, flusher, service } = await onOwnOrigin();
    service.rule = () => 'hang';
    page.add(...makeRecords(5));
    flusher.flushAll();
    await advance(3_000);
    flusher.handOff();
    expect(service.open()).toHaveLength(5);
  });
});
