import { describe, expect, it, vi } from 'vitest';
import { advance } from '../../../support/advance.js';
import { deliveryEach } from '../../../support/delivery-each.js';
import { makeRecord, makeRecords } from '../../../support/make-record.js';
import { never } from '../../../support/never.js';
import { settle } from '../../../support/settle.js';

const { start } = deliveryEach();
const slowMs = 300_000;

describe('a wrong set-up', () => {
  it.each([401, 403, 404, 405])(
    '(%i) keeps the records, is asked now and then, and is told once',
    async (status) => {
      const { page, flusher, service, errors } = await start();
      service.rule = () => status;
      page.add(...makeRecords(8));
      flusher.flushAll();
      await advance(2 * slowMs);
      expect(flusher.pause()[0]).toBe('setup');
      expect(errors).toHaveLength(1);
      expect(errors[0]).toMatchObject({ kind: 'setup', status });
      expect(service.sent.length).toBeLessThan(25);
      expect(page.waiting()).toHaveLength(8);
      expect(page.drops).toEqual([]);
    },
  );

  it('heals by itself', async () => {
    const { page, flusher, service } = await start();
    service.rule = () => 401;
    page.add(...makeRecords(8));
    flusher.flushAll();
    await advance(1_000);
    service.rule = () => 200;
    await advance(slowMs + 2_000);
    expect(page.outbox.count()).toBe(0);
  });

  it('heals at once with a new token', async () => {
    let token = 'bad';
    const { page, flusher, service } = await start({ token: () => token });
    service.rule = (_, used) => (used === 'bad' ? 401 : 200);
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    token = 'good';
    flusher.reconfigure();
    await advance(100);
    expect(service.sent.map((request) => request.token)).toEqual(['bad', 'good']);
    expect(page.outbox.count()).toBe(0);
  });

  it('is told again where a new one is wrong, too', async () => {
    const { page, flusher, service, errors } = await start();
    service.rule = () => 404;
    page.add(makeRecord('a'));
    flusher.flushAll();
    await settle();
    flusher.reconfigure();
    await settle();
    expect(service.sent).toHaveLength(2);
    expect(errors).toHaveLength(2);
  });

  it('is told once, though others pass in between', async () => {
    const { page, flusher, service, errors } = await start();
    for (const id of ['a', 'b']) {
      service.rule = () => 401;
      page.add(makeRecord(id));
      flusher.flushAll();
      await advance(1_000);
      service.rule = () => 200;
      await advance(slowMs + 2_000);
      expect(page.outbox.count()).toBe(0);
    }
    expect(errors).toHaveLength(1);
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
    expect(page.outbox.count()).toBe(0);
  });

  it('is asked once more after each 401 that follows deliveries', async () => {
    const token = vi.fn(async () => `token${token.mock.calls.length}`);
    const { page, flusher, service, errors } = await start({ token: () => token });
    let valid = 1;
    service.rule = (_, used) => (used === `token${valid}` ? 200 : 401);
    for (const id of ['a', 'b', 'c']) {
      page.add(makeRecord(id));
      flusher.flushAll();
      await advance(1_000);
      expect(page.outbox.count()).toBe(0);
      valid++; // the token in use has run out
    }
    expect(token).toHaveBeenCalledTimes(3);
    expect(errors).toEqual([]);
  });

  it('is asked again after the wait', async () => {
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
  ])('that %s is told once, and asked again after the wait', async (_, fails) => {
    const token = vi.fn<() => string | Promise<string>>(fails);
    const { page, flusher, service, errors } = await start({ token: () => token });
    page.add(makeRecord('a'));
    flusher.flushAll();
    await advance(500);
    expect(errors).toMatchObject([{ kind: 'token' }]);
    expect(token).toHaveBeenCalledTimes(1);
    expect(await flusher.flush()).toEqual({ delivered: 0, retried: 0, rejected: 0, waiting: 1 });
    token.mockImplementation(async () => 'tok');
    await advance(slowMs + 2_000);
    expect(service.ids()).toEqual(['a']);
    expect(errors).toHaveLength(1);
  });

  it('is asked before the page goes, where something waits', async () => {
    const token = vi.fn(async () => 'tok');
    const { page, flusher, service } = await start({ token: () => token });
    flusher.prepare();
    await settle();
    expect(token).not.toHaveBeenCalled();
    page.add(makeRecord('a'));
    flusher.prepare();
    await settle();
    expect(token).toHaveBeenCalledTimes(1);
    expect(service.ids()).toEqual([]);
    flusher.handOff();
    expect(service.ids()).toEqual(['a']);
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
