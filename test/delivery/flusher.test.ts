import { describe, expect, it, vi } from 'vitest';
import { LEASE_MS } from '../../src/outbox/lease.js';
import { advance } from '../support/advance.js';
import { forbidOpening } from '../support/break-storage.js';
import { createDelivery } from '../support/create-delivery.js';
import { createPage, DATABASE } from '../support/create-page.js';
import { makeRecord, makeRecords } from '../support/make-record.js';
import { settle } from '../support/settle.js';
import { storageEach } from '../support/storage-each.js';
import { readStored } from '../support/stored.js';

const world = storageEach();

const start = async (choices: Parameters<typeof createDelivery>[1] = {}) => {
  const delivery = createDelivery(world.shelf, choices);
  delivery.flusher.pump();
  await settle();
  return delivery;
};

const identify = (id: string, user = 'u') => makeRecord(id, { type: 'identify', user });
const slowMs = 300_000;
/** A token function that never answers. */
const never = () => new Promise<string>(() => undefined);

describe('a flush', () => {
  it('sends everything that waits, oldest first, six at a time', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(...makeRecords(10));
    flusher.flushAll();
    await settle();
    expect(service.ids()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4', 'r5']);
    service.answer('r3', 200);
    await advance(100);
    expect(service.ids().at(-1)).toBe('r6');
    expect(service.mostAtOnce).toBe(6);
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
    await settle();
    expect(service.ids()).toEqual(['r0', 'r1', 'r2']);
    expect((await readStored()).leases[0]).toMatchObject({ flight: [0, 1, 2] });
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
    const { page, flusher, service, world: state } = await start();
    page.add(makeRecord('a'));
    flusher.flushAll();
    state.isOnline = false;
    flusher.pump();
    await settle();
    expect(service.ids()).toEqual([]);
    expect((await readStored()).leases[0]).toMatchObject({ flight: [] });
  });

  it('looks again after the wait whether the destination may be asked', async () => {
    const { page, flusher, service, gate } = await start();
    page.add(makeRecord('a'));
    flusher.flushAll();
    gate.close(10_000, false); // by another page
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
    expect(service.ids()).toEqual(['a']);
    await settle();
  });

  it('asks for the concurrency that was chosen', async () => {
    const { page, flusher, service } = await start({ concurrency: 2 });
    service.rule = () => 'hang';
    page.add(...makeRecords(5));
    flusher.flushAll();
    await settle();
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

  it('sends what a killed page left', async () => {
    const left = createPage(world.shelf);
    left.add(...makeRecords(2));
    await settle();
    await advance(LEASE_MS);
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
    vi.setSystemTime(Date.now() + 2 * LEASE_MS);
    const other = await start();
    await advance(2_000);
    expect(other.service.ids()).toEqual(['a']);
    frozen.service.rule = () => 200;
    frozen.page.add(makeRecord('b'));
    frozen.flusher.flushAll();
    await advance(2_000);
    expect(frozen.service.ids()).toEqual(['a', 'b']);
    expect(frozen.page.outbox.entries).toHaveLength(0);
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
    page.add(identify('i1'), makeRecord('e1', { user: 'u' }), identify('i2'), makeRecord('free'));
    flusher.flushAll();
    await settle();
    expect(service.ids()).toEqual(['i1', 'free']);
    service.answer('i1', 200);
    await advance(100);
    expect(service.ids()).toEqual(['i1', 'free', 'e1', 'i2']);
  });

  it('that fail keep their place', async () => {
    const { page, flusher, service } = await start();
    service.rule = ({ id }) => (id === 'i1' && service.sent.length === 1 ? 500 : 200);
    page.add(identify('i1'), identify('i2'));
    flusher.flushAll();
    await advance(10_000);
    expect(service.ids()).toEqual(['i1', 'i1', 'i2']);
  });

  it('wait for older ones of another page that are not read yet', async () => {
    const left = createPage(world.shelf);
    left.add(identify('old'));
    await settle();
    await advance(LEASE_MS);
    const delivery = createDelivery(world.shelf);
    delivery.page.add(identify('new'));
    delivery.flusher.flushAll();
    await advance(1_000);
    expect(delivery.service.ids()).toEqual(['old', 'new']);
  });
});

describe('a failing service', () => {
  const failing = async (status = 500) => {
    const delivery = await start();
    delivery.service.rule = () => status;
    return delivery;
  };

  it('gets one probe after the first failures, and then 1, 2, 4, 6 requests at a time', async () => {
    const { page, flusher, service } = await failing();
    page.add(...makeRecords(30));
    flusher.flushAll();
    await settle();
    expect(service.sent).toHaveLength(6);
    service.rule = () => 'hang';
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
    await advance(120_000);
    const gaps = service.sent.slice(1).map(({ at }, i) => at - service.sent[i]!.at);
    expect(gaps.length).toBeGreaterThan(4);
    // random() is 0.5: half of 1, 2, 4 … s, and up to 0.5 s of spread
    gaps.slice(0, -1).forEach((gap, n) => {
      expect(gap).toBeGreaterThanOrEqual(500 * 2 ** n);
      expect(gap).toBeLessThanOrEqual(500 * 2 ** n + 1_000);
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
    expect(page.outbox.entries).toHaveLength(0);
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
    const { page, flusher } = await failing();
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    flusher.stop();
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
    await settle();
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
    expect(page.outbox.entries).toHaveLength(0);
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
    expect(page.outbox.entries).toHaveLength(0);
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

  it('is over when the page is online again', async () => {
    const { flusher, service, page } = await silent();
    service.rule = () => 200;
    flusher.resume();
    await advance(5_000);
    expect(service.sent).toHaveLength(4);
    expect(page.outbox.entries).toHaveLength(0);
    expect(flusher.pause()[0]).toBeUndefined();
  });

  it('is tried again after five minutes', async () => {
    const { service, page } = await silent();
    service.rule = () => 200;
    await advance(slowMs + 2_000);
    expect(page.outbox.entries).toHaveLength(0);
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
      const { page, flusher, service, world: state } = await start({ limits });
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
      flusher.stop();
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
    expect(service.ids()).toEqual(['a', 'b']);
  });

  it('sends all at once where it is asked to flush meanwhile', async () => {
    const { flusher, service } = await comingBack();
    void flusher.flush();
    await settle();
    expect(service.ids()).toEqual(['a', 'b']);
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
    await advance(LEASE_MS);
    const { page, flusher, service, world: state } = createDelivery(world.shelf);
    state.isOnline = false;
    flusher.pump();
    await settle();
    await advance(1_000);
    expect(page.outbox.entries).toEqual([]);
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

describe('a wrong set-up', () => {
  it.each([401, 403, 404, 405])(
    '(%i) pauses delivery, keeps the records and is told once',
    async (status) => {
      const { page, flusher, service, errors } = await start();
      service.rule = () => status;
      page.add(...makeRecords(8));
      flusher.flushAll();
      await advance(2 * slowMs);
      expect(flusher.pause()[0]).toBe('setup');
      expect(errors).toHaveLength(1);
      expect(errors[0]).toMatchObject({ kind: 'setup', status });
      expect(service.sent.length).toBeLessThan(10);
      expect(page.waiting()).toHaveLength(8);
      expect(page.drops).toEqual([]);
    },
  );

  it('heals on the slow schedule', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 401;
    page.add(...makeRecords(8));
    flusher.flushAll();
    await advance(1_000);
    service.rule = () => 200;
    await advance(slowMs + 2_000);
    expect(page.outbox.entries).toHaveLength(0);
  });

  it('heals at once with a new token', async () => {
    let token = 'bad';
    const { page, flusher, service } = await start({ token: () => token });
    service.rule = (_, used) => (used === 'bad' ? 401 : 200);
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    token = 'good';
    flusher.resume();
    await advance(100);
    expect(service.sent.map((request) => request.token)).toEqual(['bad', 'good']);
    expect(page.outbox.entries).toHaveLength(0);
  });

  it('is not told again because the network came and went', async () => {
    const { page, flusher, service, errors } = await start();
    service.rule = () => 401;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    for (let i = 0; i < 3; i++) {
      flusher.resume();
      await advance(1_000);
    }
    expect(errors).toHaveLength(1);
  });
});

describe('a token function', () => {
  it('is asked when there is something to send', async () => {
    const token = vi.fn(async () => 'tok');
    const { page, flusher, service } = await start({ token: () => token });
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    expect(token).toHaveBeenCalledTimes(1);
    expect(service.sent).toMatchObject([{ id: 'a', token: 'tok' }]);
  });

  it('is not asked while nothing waits', async () => {
    const token = vi.fn(async () => 'tok');
    await start({ token: () => token });
    await advance(60_000);
    expect(token).not.toHaveBeenCalled();
  });

  it('is asked once more after a 401, and what waits is sent with the new one', async () => {
    const tokens = ['old', 'new', 'newer'];
    const token = vi.fn(async () => tokens.shift() ?? 'none');
    const { page, flusher, service, errors } = await start({ token: () => token });
    service.rule = (_, used) => (used === 'old' ? 401 : 200);
    page.add(...makeRecords(8));
    flusher.flushAll();
    await advance(1_000);
    expect(token).toHaveBeenCalledTimes(2);
    expect(errors).toEqual([]);
    expect(page.outbox.entries).toHaveLength(0);
  });

  it('is asked again on the slow schedule', async () => {
    const tokens = ['bad', 'worse', 'good'];
    const token = async () => tokens.shift() ?? 'none';
    const { page, flusher, service, errors } = await start({ token: () => token });
    service.rule = (_, used) => (used === 'good' ? 200 : 401);
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(slowMs + 2_000);
    expect(service.sent.map((request) => request.token)).toEqual(['bad', 'worse', 'good']);
    expect(errors).toHaveLength(1);
  });

  it.each([
    ['rejects', async () => Promise.reject(new Error('no session'))],
    [
      'throws',
      () => {
        throw new Error('no session');
      },
    ],
    ['gives nothing', async () => '' as string],
  ])('that %s is told once, and asked again on the slow schedule', async (_, fails) => {
    const token = vi.fn<() => string | Promise<string>>(fails);
    const { page, flusher, service, errors } = await start({ token: () => token });
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(1_000);
    expect(errors).toMatchObject([{ kind: 'token' }]);
    expect(token).toHaveBeenCalledTimes(1);
    expect(await flusher.flush()).toEqual({ delivered: 0, retried: 0, rejected: 0, waiting: 1 });
    token.mockImplementation(async () => 'tok');
    await advance(slowMs + 2_000);
    expect(service.ids()).toEqual(['a']);
    expect(errors).toHaveLength(1);
  });

  it('that never answers does not keep flush() waiting for ever', async () => {
    const { page, flusher } = await start({ token: () => never });
    page.add(makeRecord('a'));
    const result = vi.fn();
    void flusher.flush().then(result);
    await advance(60_000);
    expect(result).toHaveBeenCalled();
  });
});

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
    service.rule = () => 503;
    page.add(...makeRecords(8));
    const flushed = flusher.flush();
    await settle();
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

  it('settles offline', async () => {
    const { page, flusher, world: state } = await start();
    state.isOnline = false;
    page.add(makeRecord('a'));
    expect(await flusher.flush()).toEqual({ ...result, waiting: 1 });
  });

  it('settles when nothing answers', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 0;
    page.add(makeRecord('a'));
    for (let i = 0; i < 3; i++) {
      const flushed = flusher.flush();
      await advance(3_000);
      expect((await flushed).waiting).toBe(1);
    }
    expect(flusher.pause()[0]).toBe('unreachable');
    expect(await flusher.flush()).toEqual({ ...result, waiting: 1 });
  });

  it('settles when delivery is stopped', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 'hang';
    page.add(makeRecord('a'));
    const flushed = flusher.flush();
    await settle();
    flusher.stop();
    expect((await flushed).delivered).toBe(0);
    expect(service.aborted).toBe(true);
  });

  it('counts what another page had left', async () => {
    const left = createPage(world.shelf);
    left.add(...makeRecords(150));
    await settle(500);
    await advance(LEASE_MS);
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
    page.add(identify('i1'), identify('i2'), identify('j1', 'v'));
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
    expect(next.unknown.sort()).toEqual(['r0', 'r1']);
  });
});

describe('a page that was left and runs on', () => {
  it('looks at no lease until it is back', async () => {
    const { page, flusher, service } = await start();
    page.outbox.leave(true);
    page.add(makeRecord('a'));
    await settle();
    await advance(LEASE_MS);
    // One that settled at once would be tried again without end.
    const renew = vi.spyOn(page.outbox, 'renew').mockImplementation(() => new Promise(() => {}));
    flusher.flushAll();
    await settle();
    expect(renew).not.toHaveBeenCalled();
    renew.mockRestore();
    page.outbox.comeBack();
    flusher.flushAll();
    await advance(1_000);
    expect(service.ids()).toEqual(['a']);
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
    expect(page.outbox.entries).toHaveLength(0);
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
    ended.flusher.stop();
    ended.page.outbox.leave(true);
    await settle();
    const next = await start();
    await advance(1_000);
    expect(next.service.ids()).toEqual(['r0', 'r1', 'r2']);
  });

  it('sends nothing any more', async () => {
    const { page, flusher, service } = await start();
    flusher.stop();
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
