import { describe, expect, it, vi } from 'vitest';
import { advance } from '../../../support/advance.js';
import { createDelivery } from '../../../support/create-delivery.js';
import { deliveryEach } from '../../../support/delivery-each.js';
import { makeIdentify, makeRecord, makeRecords } from '../../../support/make-record.js';
import { settle } from '../../../support/settle.js';
import { readStored } from '../../../support/stored.js';

const { world, start } = deliveryEach();
const slowMs = 300_000;

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
    // random() is 0.5, so each is three eighths of the time since the first, and 0.75 s at least. Half of the 0.5 s
    // over which pages are spread comes on top.
    gaps.forEach((gap, i) => {
      const trouble = service.sent[i]!.at - service.sent[0]!.at;
      const delay = Math.max(750, (3 / 8) * trouble);
      expect(gap).toBeGreaterThanOrEqual(delay + 250);
      expect(gap).toBeLessThanOrEqual(delay + 1_000);
    });
    expect(gaps.length).toBeLessThan(20);
  });

  it('that answers six requests at once with 500 counts as one failure', async () => {
    const { page, flusher, gate } = await failing();
    page.add(...makeRecords(6));
    flusher.flushAll();
    await settle();
    expect(gate.until() - Date.now()).toBeLessThanOrEqual(750);
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
  it('the records go first that have failed least often', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 500;
    page.add(makeRecord('old'));
    flusher.flushAll();
    await settle();
    page.add(...makeRecords(3));
    flusher.flushAll();
    await advance(1_500);
    service.rule = () => 200;
    await advance(10_000);
    expect(service.ids()).toEqual(['old', 'r0', 'r1', 'r2', 'old', 'r0']);
  });

  it('the pages of a site wait together', async () => {
    const pages = [await start(), await start()];
    for (const [i, { page, flusher, service }] of pages.entries()) {
      service.rule = () => 503;
      page.add(makeRecord(`p${i}`));
      flusher.flushAll();
    }
    await settle();
    const third = await start();
    third.page.add(makeRecord('third'));
    third.flusher.flushAll();
    await settle();
    expect(third.service.ids()).toEqual([]);
    expect(third.flusher.pause()[0]).toBe('backoff');
    for (const { service } of pages) service.rule = () => 200;
    await advance(2_000);
    expect(third.service.ids()).toEqual(['third']);
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
  it.each([403, 404, 429, 500])(
    'with %i lets fresh ones go first, on this page and the next',
    async (status) => {
      const first = await start();
      first.page.add(makeRecord('bad'));
      first.service.rule = () => status;
      first.flusher.flushAll();
      await settle();
      first.page.outbox.leave(true);
      first.stop();
      for (let visit = 0; visit < 3; visit++) {
        const { page, flusher, service, outcomes, stop } = createDelivery(world.shelf);
        service.rule = ({ id }) => (id === 'bad' ? status : 200);
        flusher.pump();
        await advance(500);
        page.add(...makeRecords(2, `visit${visit}`));
        flusher.flushAll();
        await advance(2_500);
        expect(outcomes.filter(([, outcome]) => outcome === 'delivered')).toHaveLength(2);
        expect(page.waiting()).toEqual(['bad']);
        page.outbox.leave(true);
        stop();
      }
    },
  );

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

  it('is tried on a schedule of its own', async () => {
    const { page, flusher, service } = await start();
    service.rule = ({ id }) => (id.startsWith('bad') ? 500 : 200);
    for (const id of ['bad0', 'bad1']) {
      page.add(makeRecord(id));
      flusher.flushAll();
      await settle();
      page.add(makeRecord(`beside ${id}`));
      flusher.flushAll();
      await advance(20_000);
    }
    await advance(600_000);
    expect(flusher.pause()[0]).toBeUndefined();
    for (const id of ['bad0', 'bad1']) {
      const times = service.sent.filter((sent) => sent.id === id).map(({ at }) => at);
      const gaps = times.slice(1).map((at, i) => at - times[i]!);
      // Half as long as it has failed at most, and half a second for other pages.
      gaps.forEach((gap, i) => {
        expect(gap).toBeLessThan(Math.max(1_000, (times[i]! - times[0]!) / 2) + 1_000);
      });
      expect(gaps.length).toBeGreaterThan(7);
    }
  });

  it('is tried again though the clock was set back under its delay', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 403;
    page.add(makeRecord('odd'));
    flusher.flushAll();
    await advance(60_000);
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
    expect(service.ids().filter((id) => id === 'odd').length).toBeLessThan(25);
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

  it('three times in a row is called unreachable, and waited for as after any failure', async () => {
    const { flusher, service } = await silent();
    const tries = service.sent.length;
    expect(tries).toBeGreaterThan(3);
    expect(flusher.pause()[0]).toBe('unreachable');
    service.rule = () => 200;
    await advance(5_000);
    expect(service.sent).toHaveLength(tries + 1);
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
    await advance(600_000);
    const tries = service.sent.length;
    service.rule = () => 200;
    flusher.resume();
    await advance(2_500);
    expect(service.sent).toHaveLength(tries + 1);
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

describe('a page that the browser calls offline', () => {
  const offline = async () => {
    const delivery = await start();
    const { page, flusher, service, world: state } = delivery;
    state.isOnline = false;
    service.rule = () => 0;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(600_000);
    return delivery;
  };

  it('says so, and tries all the same: some systems say so for ever', async () => {
    const { flusher, service, page } = await offline();
    expect(flusher.pause()[0]).toBe('offline');
    service.rule = () => 200;
    await advance(slowMs + 1_000);
    expect(page.outbox.count()).toBe(0);
  });

  it('delivers within seconds when it is back, what has failed and what has not', async () => {
    const { page, flusher, service, world: state } = await offline();
    page.add(...makeRecords(3));
    state.isOnline = true;
    service.rule = () => 200;
    flusher.resume();
    await advance(3_000);
    expect(page.outbox.count()).toBe(0);
  });
});
