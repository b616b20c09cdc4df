import { describe, expect, it } from 'vitest';
import { advance } from '../../support/advance.js';
import { createDeliveryBy } from '../../support/create-delivery.js';
import { BUSY, createFakeBatchSender, DELIVERED } from '../../support/fake-batch-sender.js';
import { makeIdentify, makeRecord, makeRecords } from '../../support/make-record.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';
import { readStored } from '../../support/stored.js';

const world = storageEach();

/** A page whose flusher sends batches. */
const start = async (records?: number) => {
  const { fake, sender } = createFakeBatchSender(records);
  const limits = { resends: true };
  const delivery = createDeliveryBy(sender, world.shelf, { limits });
  delivery.flusher.pump();
  await settle();
  return { ...delivery, relay: fake };
};

const event = (id: string, user = 'u') => makeRecord(id, { user });
const sizesOf = (batches: string[][]) => batches.map(({ length }) => length);

describe('a flush in batches', () => {
  it('sends what waits in as few requests as hold it, and each record once', async () => {
    const { page, flusher, relay } = await start();
    page.add(...makeRecords(120));
    flusher.flushAll();
    await advance(1_000);
    expect(sizesOf(relay.sent)).toEqual([50, 50, 20]);
    expect(new Set(relay.ids()).size).toBe(120);
    expect((await readStored()).keys).toEqual([]);
  });

  it('closes a request where the next record would make it too large', async () => {
    const { page, flusher, relay } = await start();
    page.add(...makeRecords(5, 'r', { bytes: 4_000 }), makeRecord('huge', { bytes: 20_000 }));
    flusher.flushAll();
    await settle();
    expect(relay.sent).toEqual([['r0', 'r1'], ['r2', 'r3'], ['r4'], ['huge']]);
    expect(relay.sizes).toEqual([8_020, 8_020, 4_010, 20_010]);
  });

  it('has as many requests under way as it may', async () => {
    const { page, flusher, relay } = await start(2);
    relay.rule = () => 'hang';
    page.add(...makeRecords(30));
    flusher.flushAll();
    await advance(20);
    expect(relay.open()).toBe(6);
    expect(flusher.inFlight()).toBe(12);
    relay.answer([DELIVERED, DELIVERED]);
    await advance(100);
    expect(relay.sent).toHaveLength(7);
  });

  it("puts a user's identify and what follows it into one request, in order", async () => {
    const { page, flusher, relay } = await start();
    relay.rule = () => 'hang';
    page.add(
      makeIdentify('i1'),
      event('e1'),
      makeIdentify('j1', 'v'),
      makeIdentify('i2'),
      event('e2'),
    );
    flusher.flushAll();
    expect(relay.sent).toEqual([['i1', 'e1', 'j1', 'i2', 'e2']]);
  });

  it('lets what follows an identify, and does not fit beside it, wait for the answer', async () => {
    const { page, flusher, relay } = await start(2);
    relay.rule = () => 'hang';
    page.add(makeIdentify('i'), event('e1'), event('e2'), event('free', 'v'));
    flusher.flushAll();
    await advance(20);
    expect(relay.sent).toEqual([['i', 'e1'], ['free']]);
    relay.answer([DELIVERED, DELIVERED]);
    await advance(100);
    expect(relay.sent.at(-1)).toEqual(['e2']);
  });
});

describe('an answer by record', () => {
  it('is followed for each', async () => {
    const { page, flusher, relay, outcomes } = await start();
    relay.rule = (batch) =>
      batch.map(({ id }) => (id === 'bad' ? { outcome: 'rejected', status: 422 } : DELIVERED));
    page.add(makeRecord('bad'), ...makeRecords(3));
    const result = await flusher.flush();
    expect(result).toEqual({ delivered: 3, retried: 0, rejected: 1, waiting: 0 });
    expect(page.drops).toEqual([{ id: 'bad', reason: 'rejected' }]);
    expect(outcomes).toHaveLength(4);
    expect(relay.sent).toHaveLength(1);
  });

  it('that has some wait holds up no other, and sends those again alone', async () => {
    const { page, flusher, relay } = await start();
    const failed = new Set<string>();
    relay.rule = (batch) =>
      batch.map(({ id }) => {
        if (!id.startsWith('late') || failed.has(id)) return DELIVERED;
        failed.add(id);
        return { outcome: 'retry', status: 500 };
      });
    page.add(...makeRecords(2, 'late'), ...makeRecords(10));
    flusher.flushAll();
    await settle();
    expect(flusher.pause()[0]).toBeUndefined();
    page.add(makeRecord('next'));
    flusher.flushAll();
    await settle();
    expect(relay.sent[1]).toEqual(['next']);
    await advance(5_000);
    expect(relay.sent[2]).toEqual(['late0', 'late1']);
    expect(page.outbox.count()).toBe(0);
  });

  it('with a wish to wait is obeyed for all that follows', async () => {
    const { page, flusher, relay, gate } = await start();
    relay.rule = (batch) =>
      batch.map(({ id }, i) =>
        id === 'r0' ? DELIVERED : { ...BUSY, retryAfterMs: i === 1 ? 30_000 : 5_000 },
      );
    page.add(...makeRecords(3));
    flusher.flushAll();
    await settle();
    expect(gate.until() - Date.now()).toBeGreaterThanOrEqual(30_000);
    relay.rule = (batch) => batch.map(() => DELIVERED);
    await advance(29_000);
    expect(relay.sent).toHaveLength(1);
    await advance(20_000);
    expect(page.outbox.count()).toBe(0);
  });

  it('that some were not tried puts these first when the service is asked again', async () => {
    const { page, flusher, relay } = await start();
    relay.rule = (batch) =>
      batch.map(({ id }) => (id === 'tried' ? BUSY : { outcome: 'retry', status: 0 }));
    page.add(makeRecord('tried'), makeRecord('untried'));
    expect(await flusher.flush()).toMatchObject({ retried: 2, waiting: 2 });
    relay.rule = (batch) => batch.map(() => DELIVERED);
    await advance(5_000);
    expect(relay.sent).toEqual([['tried', 'untried'], ['untried'], ['tried']]);
  });

  it('that none was tried is a failure of all', async () => {
    const { page, flusher, relay, gate } = await start();
    relay.rule = (batch) => batch.map(() => ({ outcome: 'retry', status: 0 }));
    page.add(...makeRecords(2));
    expect(await flusher.flush()).toMatchObject({ retried: 2, waiting: 2 });
    expect(gate.until()).toBeGreaterThan(0);
    expect(relay.sent).toHaveLength(1);
    relay.rule = (batch) => batch.map(() => DELIVERED);
    await advance(5_000);
    expect(relay.ids().sort()).toEqual(['r0', 'r0', 'r1', 'r1']);
    expect(page.outbox.count()).toBe(0);
  });

  it('that none was tried, three times in a row, is called unreachable', async () => {
    const { page, flusher, relay } = await start();
    relay.rule = (batch) => batch.map(() => ({ outcome: 'retry', status: 0 }));
    page.add(...makeRecords(2));
    flusher.flushAll();
    await advance(2_500);
    expect(relay.sent).toHaveLength(3);
    expect(flusher.pause()[0]).toBe('unreachable');
  });

  it('that blocks a record which others pass holds up only that one', async () => {
    const { page, flusher, relay, errors } = await start();
    relay.rule = (batch) =>
      batch.map(({ id }) => (id === 'odd' ? { outcome: 'blocked', status: 403 } : DELIVERED));
    page.add(makeRecord('odd'), ...makeRecords(5));
    flusher.flushAll();
    await settle();
    expect(errors).toHaveLength(1);
    expect(flusher.pause()[0]).toBeUndefined();
    expect(page.waiting()).toEqual(['odd']);
  });

  describe('that blocks some for values of their own', () => {
    const unlisted = (id: string) => ({
      ...({ outcome: 'blocked', status: 403, isUnlisted: true } as const),
      problem: `${id.slice(0, 4)} is not listed`,
    });
    const startLagging = async () => {
      const delivery = await start();
      const state = { lags: true };
      delivery.relay.rule = (batch) =>
        batch.map(({ id }) => (state.lags && id.startsWith('new') ? unlisted(id) : DELIVERED));
      return { ...delivery, state };
    };

    it('keeps these, tells of each once, and holds up no other, though none has passed', async () => {
      const { page, flusher, relay, errors, state } = await startLagging();
      page.add(...makeRecords(2, 'new'));
      flusher.flushAll();
      await settle();
      expect(flusher.pause()[0]).toBeUndefined();
      page.add(makeRecord('other'), makeRecord('new0 too'));
      flusher.flushAll();
      await settle();
      expect(relay.sent).toEqual([
        ['new0', 'new1'],
        ['other', 'new0 too'],
      ]);
      expect(page.waiting()).toEqual(['new0', 'new1', 'new0 too']);
      const toldOf = (id: string) => ({
        ...{ kind: 'setup', status: 403, message: `${id} is not listed` },
      });
      expect(errors).toEqual([toldOf('new0'), toldOf('new1')]);
      await advance(299_000);
      expect(flusher.pause()[0]).toBeUndefined();
      state.lags = false;
      await advance(300_000);
      expect(page.outbox.count()).toBe(0);
      expect(page.drops).toEqual([]);
      expect(errors).toHaveLength(2);
    });

    it('says nothing of the service: what failed beside them waits for it', async () => {
      const { page, flusher, relay, gate } = await startLagging();
      relay.rule = (batch) =>
        batch.map(({ id }) => (id.startsWith('new') ? unlisted(id) : (BUSY as typeof DELIVERED)));
      page.add(...makeRecords(2, 'new'), makeRecord('other'));
      flusher.flushAll();
      await settle();
      expect(gate.until()).toBeGreaterThan(0);
      expect(flusher.pause()[0]).toBe('backoff');
      expect(relay.sent).toHaveLength(1);
    });

    it('tells of them again when the set-up has changed', async () => {
      const { page, flusher, errors } = await startLagging();
      page.add(makeRecord('new0'));
      flusher.flushAll();
      await settle();
      flusher.reconfigure();
      page.add(makeRecord('new0 too'));
      flusher.flushAll();
      await settle();
      expect(errors).toHaveLength(2);
    });
  });

  it('that blocks all of them tells what to look at, once, however often it is asked', async () => {
    const { page, flusher, relay, errors } = await start();
    const problem = 'look here';
    relay.rule = (batch) => batch.map(() => ({ outcome: 'blocked', status: 401, problem }));
    page.add(...makeRecords(5));
    flusher.flushAll();
    await settle();
    expect(errors).toEqual([{ kind: 'setup', status: 401, message: 'look here' }]);
    expect(flusher.pause()[0]).toBe('setup');
    expect(page.waiting()).toHaveLength(5);
    await advance(601_000);
    expect(relay.sent.length).toBeLessThan(25);
    expect(errors).toHaveLength(1);
  });
});

describe('a request that fails as a whole', () => {
  it('is one failure, however many records it had', async () => {
    const { page, flusher, relay, gate } = await start();
    relay.rule = () => BUSY;
    page.add(...makeRecords(50));
    flusher.flushAll();
    await settle();
    expect(gate.until() - Date.now()).toBeLessThanOrEqual(750); // three quarters of the first second
  });

  it('is followed by one record, and by more again with each success', async () => {
    const { page, flusher, relay } = await start(16);
    let failures = 3;
    relay.rule = (batch) => (failures-- > 0 ? BUSY : batch.map(() => DELIVERED));
    page.add(...makeRecords(16));
    flusher.flushAll();
    await advance(30_000);
    // The two that were probes have been tried more often than the others, so they go last.
    expect(sizesOf(relay.sent)).toEqual([16, 1, 1, 1, 2, 4, 7, 2]);
  });

  it.each([400, 413, 422])('with %i rejects only the record that spoils it', async (status) => {
    const { page, flusher, relay, gate, outcomes } = await start();
    relay.rule = (batch) =>
      batch.some(({ id }) => id === 'bad')
        ? { outcome: 'rejected', status }
        : batch.map(() => DELIVERED);
    page.add(...makeRecords(30), makeRecord('bad'), ...makeRecords(19, 's'));
    const flushed = flusher.flush();
    await advance(500);
    expect(await flushed).toEqual({ delivered: 49, retried: 0, rejected: 1, waiting: 0 });
    expect(page.drops).toEqual([{ id: 'bad', reason: 'rejected' }]);
    expect(relay.sent.length).toBeLessThan(20);
    const ends = outcomes.map(([, outcome]) => outcome).filter((outcome) => outcome !== 'retry');
    expect(ends).toHaveLength(50);
    expect(gate.until()).toBe(0);
  });

  it('with 403 because of one record lets the others pass, and takes none of them along again', async () => {
    const { page, flusher, relay, errors } = await start(20);
    relay.rule = () => 'hang';
    page.add(...makeRecords(35), makeRecord('odd'), ...makeRecords(4, 's'));
    flusher.flushAll();
    await advance(20);
    relay.rule = (batch) =>
      batch.some(({ id }) => id === 'odd')
        ? { outcome: 'blocked', status: 403 }
        : batch.map(() => DELIVERED);
    relay.answer(Array<typeof DELIVERED>(20).fill(DELIVERED));
    relay.answer({ outcome: 'blocked', status: 403 });
    await advance(20_000);
    expect(page.waiting()).toEqual(['odd']);
    expect(errors).toHaveLength(1);
    const withOdd = sizesOf(relay.sent.filter((ids) => ids.includes('odd')));
    expect(withOdd).toEqual(withOdd.toSorted((one, other) => other - one));
    expect(withOdd.at(-1)).toBe(1);
    page.add(...makeRecords(10, 'later'));
    flusher.flushAll();
    await settle();
    expect(page.waiting()).toEqual(['odd']);
  });

  it('for a wrong set-up goes on in batches when that is mended', async () => {
    const { page, flusher, relay, errors } = await start(16);
    relay.rule = () => ({ outcome: 'blocked', status: 401 });
    page.add(...makeRecords(15));
    flusher.flushAll();
    await settle();
    expect(errors).toHaveLength(1);
    relay.rule = (batch) => batch.map(() => DELIVERED);
    flusher.reconfigure();
    await advance(5_000);
    expect(page.outbox.count()).toBe(0);
    expect(sizesOf(relay.sent)).toEqual([15, 1, 2, 4, 8]);
  });

  it('with 413 brings later ones below the size that was too large', async () => {
    const { page, flusher, relay } = await start();
    relay.rule = (batch) =>
      batch.length > 3 ? { outcome: 'rejected', status: 413 } : batch.map(() => DELIVERED);
    page.add(...makeRecords(12, 'r', { bytes: 500 }));
    flusher.flushAll();
    await advance(500);
    page.add(...makeRecords(12, 's', { bytes: 500 }));
    flusher.flushAll();
    await advance(500);
    page.add(...makeRecords(12, 't', { bytes: 500 }));
    flusher.flushAll();
    await advance(500);
    expect(page.drops).toEqual([]);
    expect(page.outbox.count()).toBe(0);
    const later = relay.sent.filter(([id]) => id!.startsWith('t'));
    expect(Math.max(...sizesOf(later))).toBeLessThanOrEqual(3);
  });

  it.each([400, 422])('with %i makes no later one smaller', async (status) => {
    const { page, flusher, relay } = await start();
    relay.rule = (batch) =>
      batch.some(({ id }) => id === 'bad')
        ? { outcome: 'rejected', status }
        : batch.map(() => DELIVERED);
    page.add(...makeRecords(30, 'r', { bytes: 100 }), makeRecord('bad'));
    flusher.flushAll();
    await advance(500);
    page.add(...makeRecords(50, 's', { bytes: 100 }));
    flusher.flushAll();
    await advance(500);
    const later = relay.sent.filter(([id]) => id!.startsWith('s'));
    expect(sizesOf(later)).toEqual([50]);
  });

  it('is waited for as long as the longest of its answers says', async () => {
    const { page, flusher, relay, gate } = await start();
    relay.rule = (batch) =>
      batch.map((_, i) => ({ ...BUSY, retryAfterMs: i === 1 ? 60_000 : 10_000 }));
    page.add(...makeRecords(3));
    flusher.flushAll();
    await settle();
    expect(gate.until() - Date.now()).toBeGreaterThanOrEqual(60_000);
  });

  it('because of one record is soon over for the others', async () => {
    const { page, flusher, relay, outcomes } = await start();
    relay.rule = (batch) =>
      batch.some(({ id }) => id === 'poison')
        ? { ...BUSY, status: 500 }
        : batch.map(() => DELIVERED);
    page.add(...makeRecords(20), makeRecord('poison'), ...makeRecords(100, 's'));
    await settle(500); // so many take their time to be stored
    flusher.flushAll();
    await advance(20_000);
    expect(outcomes.filter(([, outcome]) => outcome === 'delivered')).toHaveLength(120);
    page.add(...makeRecords(20, 'later'));
    flusher.flushAll();
    await advance(1_000);
    expect(page.waiting()).toEqual(['poison']);
    expect(relay.sent.length).toBeLessThan(50);
    expect(page.drops).toEqual([]);
  });
});

describe('handing batches off', () => {
  it('starts them before it returns, as much as the browser carries', async () => {
    const { page, flusher, relay } = await start();
    relay.rule = () => 'hang';
    page.add(...makeRecords(60, 'r', { bytes: 1_000 }));
    flusher.handOff();
    expect(relay.ids()).toEqual(makeRecords(48).map(({ id }) => id));
    expect(relay.sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(48 * 1024);
  });

  it('lets what follows an identify go with it, or beside it', async () => {
    const { page, flusher, relay } = await start(3);
    relay.rule = () => 'hang';
    page.add(makeIdentify('i1'), event('e1'), makeIdentify('i2'), event('e2'), makeIdentify('i3'));
    flusher.handOff();
    expect(relay.sent).toEqual([['i1', 'e1', 'i2'], ['e2']]);
  });

  it('leaves to the next page what no answer was seen of, to be sent again', async () => {
    const { page, flusher, relay } = await start();
    relay.rule = () => 'left';
    page.add(...makeRecords(3));
    await settle();
    flusher.handOff();
    page.outbox.leave(true);
    await settle();
    const next = await start();
    await advance(1_000);
    expect(relay.sent).toEqual([['r0', 'r1', 'r2']]);
    expect(next.relay.sent).toEqual([['r0', 'r1', 'r2']]);
    expect([...page.unknown, ...next.page.unknown]).toEqual([]);
    expect(next.page.outbox.count()).toBe(0);
  });
});
