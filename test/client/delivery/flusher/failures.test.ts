import { describe, expect, it, vi } from 'vitest';
import { HOLD_MS } from '../../../../src/client/outbox/context.js';
import { advance } from '../../../support/advance.js';
import { createDelivery } from '../../../support/create-delivery.js';
import { createPage } from '../../../support/create-page.js';
import { deliveryEach } from '../../../support/delivery-each.js';
import { makeIdentify, makeRecord, makeRecords } from '../../../support/make-record.js';
import { settle } from '../../../support/settle.js';
import { readStored } from '../../../support/stored.js';

const { world, start } = deliveryEach();
const slowMs = 300_000;

type FakeService = ReturnType<typeof createDelivery>['service'];

/** Answers all that are open, those that pass first. */
const answerAll = (service: FakeService, replyTo: (id: string) => number): void => {
  const failures = service.open().filter((id) => replyTo(id) !== 200);
  for (const id of service.open()) if (replyTo(id) === 200) service.answer(id, 200);
  for (const id of failures) service.answer(id, replyTo(id));
};

describe('a failing service', () => {
  const failing = async (status = 500) => {
    const delivery = await start();
    delivery.service.rule = () => status;
    return delivery;
  };

  it('gets one probe after the first failures, and then 1, 2, 4, 6 requests at a time', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(...makeRecords(30));
    flusher.flushAll();
    await advance(20);
    expect(service.open()).toHaveLength(6);
    for (const id of service.open()) service.answer(id, 500);
    service.mostAtOnce = 0;
    const widths: number[] = [];
    await advance(2_000);
    for (let i = 0; i < 4; i++) {
      const open = service.open();
      widths.push(open.length);
      for (const id of open) service.answer(id, 200);
      await advance(100);
    }
    expect(widths[0]).toBe(1);
    expect(widths[1]).toBe(2);
    expect(widths.slice(2).every((width) => width <= 6)).toBe(true);
    expect(widths[3]).toBe(6);
  });

  it('is left in peace for longer and longer', async () => {
    const { page, flusher, service } = await failing();
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(500_000);
    const gaps = service.sent.slice(1).map(({ at }, i) => at - service.sent[i]!.at);
    // random() is 0.5: half of 1, 16, 32 … 300 s, and half of the 0.5 s over which pages are spread
    const delays = [500, 8_000, 16_000, 32_000, 64_000, 128_000, 150_000];
    expect(gaps).toHaveLength(delays.length);
    gaps.forEach((gap, i) => {
      expect(gap).toBeGreaterThanOrEqual(delays[i]! + 250);
      expect(gap).toBeLessThanOrEqual(delays[i]! + 1_000);
    });
  });

  it('that answers six requests at once with 500 counts as one failure', async () => {
    const { page, flusher, gate } = await failing();
    page.add(...makeRecords(6));
    flusher.flushAll();
    await settle();
    expect(gate.until() - Date.now()).toBeLessThanOrEqual(500);
  });

  it('keeps everything, and gets each record once when it heals', async () => {
    const { page, flusher, service, outcomes } = await failing();
    page.add(...makeRecords(20));
    flusher.flushAll();
    await advance(30_000);
    service.rule = () => 200;
    await advance(60_000);
    const delivered = outcomes.filter(([, outcome]) => outcome === 'delivered');
    expect(delivered.map(([id]) => id).sort()).toEqual(
      makeRecords(20)
        .map(({ id }) => id)
        .sort(),
    );
    expect(page.outbox.count()).toBe(0);
  });

  it('has its Retry-After obeyed, by other pages and by the next one too', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => ({ status: 429, retryAfterMs: 60_000 });
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    const other = await start();
    other.page.add(makeRecord('b'));
    other.flusher.flushAll();
    await advance(59_000);
    expect(service.sent).toHaveLength(1);
    expect(other.service.sent).toHaveLength(0);
    service.rule = () => 200;
    await advance(40_000);
    expect([...service.ids(), ...other.service.ids()].sort()).toEqual(['a', 'a', 'b']);
  });

  it('has its Retry-After obeyed though a request of another page passes meanwhile', async () => {
    const slow = await start();
    slow.service.rule = () => 'hang';
    slow.page.add(makeRecord('slow'));
    slow.flusher.flushAll();
    await advance(1_000);
    const { page, flusher, service } = await start();
    service.rule = () => ({ status: 429, retryAfterMs: 60_000 });
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    slow.service.answer('slow', 200);
    await advance(30_000);
    page.add(makeRecord('b'));
    flusher.flushAll();
    await advance(20_000);
    expect(service.ids()).toEqual(['a']);
  });

  it('does not reach a page that starts under its penalty with six requests at once', async () => {
    const { page, flusher, stop } = await failing();
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    stop();
    const next = createDelivery(world.shelf);
    next.service.rule = () => 'hang';
    next.page.add(...makeRecords(20, 'n'));
    next.flusher.flushAll();
    await advance(2_000);
    expect(next.service.open()).toHaveLength(1);
    next.service.answer(next.service.open()[0]!, 200);
    await advance(100);
    expect(next.service.open()).toHaveLength(2);
  });

  it('gets its probe though an older request hangs', async () => {
    const { page, flusher, service } = await start();
    service.rule = ({ id }) => (id === 'stuck' ? 'hang' : 500);
    page.add(makeRecord('stuck'), makeRecord('a'));
    flusher.flushAll();
    await advance(20);
    service.rule = () => 200;
    await advance(10_000);
    expect(service.ids()).toEqual(['stuck', 'a', 'a']);
  });

  it('is asked again with a record that has not failed yet', async () => {
    const { page, flusher, service, outcomes } = await start();
    service.rule = ({ id }) => (id === 'poison' ? 500 : 200);
    page.add(makeRecord('poison'));
    flusher.flushAll();
    await settle();
    page.add(...makeRecords(10));
    flusher.flushAll();
    await advance(5_000);
    expect(outcomes.filter(([, outcome]) => outcome === 'delivered')).toHaveLength(10);
  });
});

describe('after a failure', () => {
  it('the probe is none of the records that have failed while others passed', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(...makeRecords(4), makeRecord('poison'));
    flusher.flushAll();
    await advance(20);
    answerAll(service, (id) => (id === 'poison' ? 500 : 200));
    await advance(380);
    service.rule = () => 500;
    page.add(makeRecord('x'));
    flusher.flushAll();
    await settle();
    expect(service.ids().slice(5)).toEqual(['x']);
    service.rule = () => 'hang';
    await advance(2_000); // all of them are due
    expect(service.open()).toEqual(['x']);
  });

  it('one of the pages probes, and the others wait for what comes of it', async () => {
    const pages = [await start(), await start()];
    for (const [i, { page, flusher, service }] of pages.entries()) {
      service.rule = () => 503;
      page.add(makeRecord(`p${i}`));
      flusher.flushAll();
    }
    await settle();
    for (const { service } of pages) service.rule = () => 'hang';
    await advance(3_000);
    const probes = pages.flatMap(({ service }) => service.open());
    expect(probes).toHaveLength(1);
    await advance(4_000); // the probe's page holds them back for 5 s
    expect(pages.flatMap(({ service }) => service.open())).toHaveLength(2);
  });

  it('no more are under way than the probes since have shown to be good', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 503;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    service.rule = ({ id }) => (id === 'r0' ? 200 : 'hang'); // the probe
    page.add(...makeRecords(5));
    flusher.flushAll();
    await advance(2_000);
    expect(service.open()).toHaveLength(2);
    page.add(makeRecord('late'));
    flusher.flushAll();
    await advance(2_000);
    expect(service.open()).toHaveLength(2);
  });

  it('what grows too old under a long penalty is dropped then, and not after it', async () => {
    const { page, flusher, service } = await start({ limits: { maxAge: 10_000 } });
    service.rule = () => ({ status: 429, retryAfterMs: 3_600_000 });
    page.add(...makeRecords(2));
    flusher.flushAll();
    await advance(11_000);
    flusher.pump();
    expect(service.sent).toHaveLength(1);
    expect(page.drops).toEqual([
      { id: 'r0', reason: 'expired' },
      { id: 'r1', reason: 'expired' },
    ]);
  });
});

describe('a record that always fails', () => {
  it('holds up no other, and is tried again on its own', async () => {
    const { page, flusher, service, outcomes } = await start();
    service.rule = ({ id }) => (id === 'poison' ? 500 : 200);
    page.add(makeRecord('poison'), ...makeRecords(20));
    flusher.flushAll();
    await advance(5_000);
    const delivered = () => outcomes.filter(([, outcome]) => outcome === 'delivered').length;
    expect(delivered()).toBe(20);
    for (let i = 0; i < 6; i++) {
      page.add(makeRecord(`late${i}`));
      flusher.flushAll();
      await advance(10_000);
    }
    expect(delivered()).toBe(26);
    const tries = service.ids().filter((id) => id === 'poison').length;
    expect(tries).toBeGreaterThan(3);
    expect(tries).toBeLessThan(15);
  });

  it('does not wait for the answer to an identify that was called after it', async () => {
    const { page, flusher, service } = await start();
    service.rule = ({ id }) => (/who|event/.test(id) ? 'hang' : 200);
    page.add(...makeRecords(3), makeRecord('event', { user: 'u' }), makeIdentify('who'));
    flusher.flushAll();
    await advance(20);
    service.answer('event', 500);
    expect(service.ids()).toEqual(['r0', 'r1', 'r2', 'event', 'who']);
    service.rule = () => 200;
    await advance(5_000);
    expect(service.ids().slice(5)).toEqual(['event']);
    expect(service.open()).toEqual(['who']);
  });

  it('is sent when its own delay ends, though another had a shorter one', async () => {
    const { page, flusher, service } = await start();
    const failures = new Map([
      ['x', 3],
      ['y', 1],
    ]);
    service.rule = ({ id }) => {
      const left = failures.get(id) ?? 0;
      failures.set(id, left - 1);
      return left > 0 ? 500 : 200;
    };
    page.add(makeRecord('a'), makeRecord('x'));
    flusher.flushAll();
    await advance(1_500);
    page.add(makeRecord('b'), makeRecord('y'));
    flusher.flushAll();
    await advance(30_000);
    expect(page.outbox.count()).toBe(0);
  });

  it('is sent when its own delay ends, though another has a longer one', async () => {
    const { page, flusher, service } = await start();
    const reply = (id: string) => (id.startsWith('bad') ? 500 : 200);
    const addBeside = async (...ids: string[]) => {
      service.rule = () => 'hang';
      page.add(...ids.map((id) => makeRecord(id)));
      flusher.flushAll();
      await advance(20);
      answerAll(service, reply);
      service.rule = ({ id }) => reply(id);
      await advance(1_480);
    };
    await addBeside('a', 'bad0');
    await addBeside('b', 'bad1');
    await advance(600_000);
    for (const id of ['bad0', 'bad1']) {
      const times = service.sent.filter((sent) => sent.id === id).map(({ at }) => at);
      const gaps = times.slice(1).map((at, i) => at - times[i]!);
      // Each on its own schedule: twice as long every time, and half a second of spread at the most.
      gaps.slice(2).forEach((gap, i) => expect(gap).toBeLessThan(2 * gaps[i + 1]! + 1_000));
      expect(gaps.length).toBeGreaterThan(7);
    }
  });

  it('is tried again though the clock was set back under its delay', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(makeRecord('odd'), ...makeRecords(3));
    flusher.flushAll();
    await advance(20);
    answerAll(service, (id) => (id === 'odd' ? 403 : 200));
    await advance(5_000);
    expect(page.waiting()).toEqual(['odd']);
    service.rule = () => 200;
    vi.setSystemTime(Date.now() - 86_400_000);
    page.add(makeRecord('next'));
    flusher.flushAll();
    await advance(5_000);
    expect(page.outbox.count()).toBe(0);
  });

  it('with 403 holds up no other: a firewall may dislike one body', async () => {
    const { page, flusher, service, outcomes } = await start();
    service.rule = ({ id }) => (id === 'odd' ? 403 : 200);
    page.add(makeRecord('odd'), ...makeRecords(9));
    flusher.flushAll();
    await advance(1_000);
    page.add(makeRecord('later'));
    flusher.flushAll();
    await advance(3 * slowMs);
    const delivered = outcomes.filter(([, outcome]) => outcome === 'delivered').map(([id]) => id);
    expect(delivered).toContain('later');
    expect(service.ids().filter((id) => id === 'odd').length).toBeLessThan(20);
  });

  it('with 400 is dropped with a reason, and the others pass', async () => {
    const { page, flusher, service } = await start();
    service.rule = ({ id }) => (id === 'bad' ? 400 : 200);
    page.add(makeRecord('bad'), ...makeRecords(19));
    flusher.flushAll();
    await advance(2_000);
    expect(service.sent).toHaveLength(20);
    expect(page.drops).toEqual([{ id: 'bad', reason: 'rejected' }]);
    expect((await readStored()).keys).toEqual([]);
  });
});

describe('a request that hangs', () => {
  it('holds up only itself', async () => {
    const { page, flusher, service, outcomes } = await start();
    service.rule = ({ id }) => (id === 'r0' ? 'hang' : 200);
    page.add(...makeRecords(20));
    flusher.flushAll();
    await advance(1_000);
    expect(outcomes).toHaveLength(19);
    service.rule = () => 200;
    service.answer('r0', 0);
    await advance(5_000);
    expect(service.ids().filter((id) => id === 'r0')).toHaveLength(2);
    expect(page.outbox.count()).toBe(0);
  });
});

describe('no answer at all', () => {
  const silent = async () => {
    const delivery = await start();
    delivery.service.rule = () => 0;
    delivery.page.add(makeRecord('a'));
    delivery.flusher.flushAll();
    await advance(10_000);
    return delivery;
  };

  it('three times in a row pauses delivery', async () => {
    const { flusher, service } = await silent();
    expect(service.sent).toHaveLength(3);
    expect(flusher.pause()[0]).toBe('unreachable');
    await advance(240_000);
    expect(service.sent).toHaveLength(3);
  });

  it('is told once, and again after an answer', async () => {
    const { flusher, service, errors } = await silent();
    const told = { kind: 'unreachable', message: 'status 0' };
    expect(errors).toEqual([told]);
    for (let i = 0; i < 4; i++) {
      flusher.resume();
      await advance(300_000);
    }
    expect(errors).toEqual([told]);
    service.rule = () => 500;
    await advance(600_000);
    service.rule = () => 0;
    await advance(3_600_000);
    expect(errors).toEqual([told, told]);
  });

  it('is not told while the browser is offline', async () => {
    const { page, flusher, service, errors, world: state } = await start();
    service.rule = () => {
      state.isOnline = false;
      return 0;
    };
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(3_600_000);
    expect(service.sent.length).toBeGreaterThan(3);
    expect(errors).toEqual([]);
  });

  it('is over when the page is online again', async () => {
    const { flusher, service, page } = await silent();
    service.rule = () => 200;
    flusher.resume();
    await advance(5_000);
    expect(service.sent).toHaveLength(4);
    expect(page.outbox.count()).toBe(0);
    expect(flusher.pause()[0]).toBeUndefined();
  });

  it('is tried again after five minutes', async () => {
    const { service, page } = await silent();
    service.rule = () => 200;
    await advance(slowMs + 2_000);
    expect(page.outbox.count()).toBe(0);
  });

  it('between answers does not pause', async () => {
    const { page, flusher, service } = await start();
    const replies = [0, 0, 500, 0, 0, 200];
    service.rule = () => replies.shift() ?? 200;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(60_000);
    expect(service.sent).toHaveLength(6);
  });
});

describe('an offline page', () => {
  it('sends nothing until it is online', async () => {
    const { page, flusher, service, world: state } = await start();
    state.isOnline = false;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(60_000);
    expect(service.sent).toEqual([]);
    expect(flusher.pause()[0]).toBe('offline');
    state.isOnline = true;
    flusher.resume();
    expect(flusher.pause()[0]).toBe('backoff');
    await advance(16_000);
    expect(service.ids()).toEqual(['a']);
  });

  it('comes back spread over half of the age of its oldest record, and over five minutes at the most', async () => {
    for (const [awayMs, waitMs] of [
      [1_000, 250],
      [100_000, 25_000],
      [3_600_000, 150_000],
    ] as const) {
      // Nothing else to wait for.
      const limits = { resends: true };
      const { page, flusher, service, world: state, stop } = await start({ limits });
      state.isOnline = false;
      page.add(makeRecord('a'));
      flusher.flushAll();
      await settle();
      vi.setSystemTime(Date.now() + awayMs);
      const backAt = Date.now();
      state.isOnline = true;
      flusher.resume();
      await advance(slowMs);
      // Half a second at the most for other pages of this site.
      const [wait] = service.sent.map(({ at }) => at - backAt);
      expect(wait).toBeGreaterThanOrEqual(waitMs);
      expect(wait).toBeLessThanOrEqual(waitMs + 500);
      stop();
    }
  });

  const comingBack = async () => {
    const delivery = await start();
    const { page, flusher, world: state } = delivery;
    state.isOnline = false;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(100_000);
    state.isOnline = true;
    flusher.resume();
    page.add(makeRecord('b'));
    return delivery;
  };

  it('sends nothing for a call while it waits to come back', async () => {
    const { flusher, service } = await comingBack();
    flusher.flushAll();
    await advance(24_000);
    expect(service.ids()).toEqual([]);
    await advance(2_000);
    expect(service.ids().sort()).toEqual(['a', 'b']);
  });

  it('sends all at once where it is asked to flush meanwhile', async () => {
    const { flusher, service } = await comingBack();
    void flusher.flush();
    await settle();
    expect(service.ids().sort()).toEqual(['a', 'b']);
  });

  it('hands all off where it is left meanwhile', async () => {
    const { flusher, service } = await comingBack();
    flusher.handOff();
    await settle();
    expect(service.ids().sort()).toEqual(['a', 'b']);
  });

  it('reads what is stored only when it may be sent', async () => {
    const left = createPage(world.shelf);
    left.add(...makeRecords(2));
    await settle();
    await advance(HOLD_MS);
    const { page, flusher, service, world: state } = createDelivery(world.shelf);
    state.isOnline = false;
    flusher.pump();
    await settle();
    await advance(1_000);
    expect([...page.outbox.entries()]).toEqual([]);
    state.isOnline = true;
    flusher.resume();
    await advance(100);
    expect(service.ids()).toEqual(['r0', 'r1']);
  });

  it('tries all the same after five minutes: some systems say so for ever', async () => {
    const { page, flusher, service, world: state } = await start();
    state.isOnline = false;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(slowMs + 1_000);
    expect(service.ids()).toEqual(['a']);
  });
});
