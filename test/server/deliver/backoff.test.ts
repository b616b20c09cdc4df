import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBackoff, type TriedRecord } from '../../../src/server/deliver/backoff.js';
import { createTell } from '../../../src/server/hooks.js';

let made = 0;

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  onTestFinished(() => void vi.restoreAllMocks());
});

const setUp = (most = 32) => {
  const clock = { time: 1_000_000 };
  const states: number[] = [];
  const told: string[] = [];
  const backoff = createBackoff({
    most,
    now: () => clock.time,
    ticks: () => clock.time,
    tell: createTell({
      onMetric: (_, value) => states.push(value),
      onError: ({ kind, message }) => told.push(`${kind}: ${message}`),
      onRecovery: ({ kind, lastedMs }) => told.push(`${kind}: over after ${lastedMs} ms`),
    }),
  });
  const fresh = (sender = `c${made++}`): TriedRecord => ({ key: `r${made++}`, sender, tries: 0 });
  const pass = (record = fresh()) => backoff.passed(record);
  const fail = (record = fresh(), status = 500, retryAfterMs = 0, began = clock.time) => {
    const outcome = status === 403 || status === 404 || status === 401 ? 'blocked' : 'retry';
    return backoff.failed(record, { outcome, status, retryAfterMs }, began);
  };
  return { backoff, clock, states, told, fresh, pass, fail };
};

const OUTAGE = 8;
const iso = (time: number): string => new Date(time).toISOString();

describe('the backoff toward the service', () => {
  it('doubles the number of requests with each round of answers, up to the most', () => {
    const { backoff, pass } = setUp(20);
    const rounds = [backoff.width(0)];
    for (let round = 0; round < 4; round++) {
      for (let answers = rounds.at(-1)!; answers > 0; answers--) pass();
      rounds.push(backoff.width(1));
    }
    expect(rounds).toEqual([4, 8, 16, 20, 20]);
  });

  it('never goes above the most, and starts small when nothing was under way', () => {
    expect(setUp(2).backoff.width(0)).toBe(2);
    const { backoff, pass } = setUp();
    for (let passed = 0; passed < 40; passed++) pass();
    expect(backoff.width(1)).toBe(32);
    expect(backoff.width(0)).toBe(4);
  });

  it('has all wait when first records of several senders fail in a row, and lets one go then', () => {
    const { backoff, clock, states, pass, fail } = setUp();
    for (let senders = 1; senders < OUTAGE; senders++) fail();
    expect(backoff.waitMs()).toBe(0);
    fail();
    expect(backoff.waitMs()).toBe(1_000);
    clock.time += 1_000;
    expect(backoff.waitMs()).toBe(0);
    expect(backoff.width(0)).toBe(1);
    pass();
    expect(backoff.width(1)).toBe(2);
    expect(states).toEqual([1, 0]);
  });

  it('has nobody else wait for a record that gets no answer while others pass', () => {
    const { backoff, clock, told, fresh, pass, fail } = setUp();
    const silent = fresh('bad');
    pass();
    const began = clock.time;
    clock.time += 10_000;
    pass();
    expect(fail(silent, 0, 0, began)).toBe(true);
    expect(backoff.waitMs()).toBe(0);
    expect(backoff.health().refusing).toMatchObject({ whose: 'one client', records: 1 });
    fail(silent, 0, 0, began);
    const words = 'the service does not answer to records of one client';
    expect(told).toEqual([`records: ${words}; these wait, and all others go on`]);
    fail(fresh(), 0, 0, clock.time);
    expect(backoff.waitMs()).toBe(1_000);
  });

  it.each([0, 401, 408, 425, 429])('has all wait at once for %i', (status) => {
    const { backoff, fail } = setUp();
    fail(undefined, status);
    expect(backoff.waitMs()).toBe(1_000);
  });

  it('pauses for half as long as the service has failed, five minutes at most', () => {
    const { backoff, clock, fail } = setUp();
    const began = clock.time;
    for (let senders = 0; senders < OUTAGE; senders++) fail();
    for (let tries = 0; tries < 100; tries++) {
      clock.time += backoff.waitMs();
      const age = clock.time - began;
      fail();
      expect(backoff.waitMs()).toBe(Math.min(300_000, Math.max(1_000, age / 2)));
    }
    expect(backoff.waitMs()).toBe(300_000);
  });

  it('has nobody wait for records that have failed before, however many there are', () => {
    const { backoff, clock, fresh, pass, fail } = setUp();
    const bad = Array.from({ length: 50 }, () => fresh());
    for (const one of bad) {
      fail(one);
      pass();
    }
    for (let rounds = 0; rounds < 10; rounds++) {
      clock.time += 60_000;
      bad.forEach((one) => fail(one));
      expect(backoff.waitMs()).toBe(0);
    }
    // Nor for those of which only their queue knows.
    for (let records = 0; records < 50; records++) fail({ ...fresh(), tries: 1 });
    expect(backoff.waitMs()).toBe(0);
  });

  it('has a sender wait for the first failure of a record, and for no further one', () => {
    const { backoff, clock, fresh, fail } = setUp();
    const bad = fresh('me');
    for (let tries = 0; tries < 100; tries++) {
      expect(fail(bad)).toBe(!tries);
      clock.time += 10_000;
    }
    expect(backoff.triesOf(bad)).toBe(100);
    expect(fail({ ...fresh('me'), tries: 1 })).toBe(false);
    expect(fail(fresh('me'), 429)).toBe(false);
  });

  it('takes failures of requests that were under way together for one', () => {
    const { backoff, clock, fail } = setUp();
    for (let n = 0; n < 20; n++) fail();
    expect(backoff.waitMs()).toBe(1_000);
    clock.time += 999;
    fail();
    expect(backoff.waitMs()).toBe(1);
  });

  it('pauses for a second while the same few records get no answer, however long that lasts', () => {
    const { backoff, clock, fresh, fail } = setUp();
    const silent = [fresh(), fresh(), fresh()];
    for (let tries = 0; tries < 100; tries++) {
      fail(silent[tries % 3], 0);
      expect(backoff.waitMs()).toBe(1_000);
      clock.time += 60_000;
    }
  });

  it('waits as long as the service asks, whatever was under way, until somebody says to try', () => {
    const { backoff, fresh, pass, fail } = setUp();
    fail();
    expect(fail(fresh('asks'), 503, 60_000)).toBe(false);
    pass();
    expect(backoff.waitMs()).toBe(90_000);
    backoff.tryNow();
    expect(backoff.waitMs()).toBe(0);
  });

  it('tells of a service that fails, and when that is over', () => {
    const { backoff, clock, told, pass, fail } = setUp();
    pass();
    for (let n = 0; n < OUTAGE + 5; n++) {
      fail();
      clock.time += backoff.waitMs();
    }
    const [ofRecords, ofService] = told;
    expect(told).toHaveLength(2);
    expect(ofRecords).toMatch(/^records: /);
    expect(ofService).toBe('service: the service answers 500; records wait');
    clock.time += 500;
    pass();
    expect(told[2]).toMatch(/^service: over after \d+ ms$/);
  });

  it('tells of a set-up that is wrong from the start, also where only one sender sends', () => {
    const { clock, told, fresh, fail } = setUp();
    fail(fresh('me'), 404);
    expect(told).toEqual([]);
    clock.time += 1_000;
    fail(fresh('me'), 404);
    expect(told).toEqual(['setup: the service answers 404: check `baseUrl` and `token`']);
  });

  it('tells of records that fail while others pass, whose they are, and when that is over', () => {
    const { backoff, clock, told, fresh, pass, fail } = setUp();
    pass();
    const bad = fresh('bad');
    for (let tries = 0; tries < 3; tries++) {
      fail(bad);
      pass();
    }
    expect(told).toEqual([
      'records: the service answers 500 to records of one client; these wait, and all others go on',
    ]);
    expect(backoff.health()).toMatchObject({
      status: 'ok',
      refusing: {
        ...{ whose: 'one client', records: 1, since: iso(clock.time) },
        reason: 'the service answers 500',
      },
    });
    fail(fresh('other'), 403);
    expect(backoff.health().refusing).toMatchObject({ whose: 'some records', records: 2 });
    // Each may wait for five minutes, and take as long to fail.
    clock.time += 599_999;
    expect(backoff.health().refusing).toMatchObject({ records: 2 });
    clock.time += 2;
    expect(backoff.health().refusing).toBeUndefined();
    expect(told[1]).toBe('records: over after 600001 ms');
  });

  it('says how it stands with the service', () => {
    const { backoff, clock, fresh, pass, fail } = setUp();
    expect(backoff.health()).toEqual({ status: 'unknown' });
    pass();
    const last_success = iso(clock.time);
    expect(backoff.health()).toEqual({ status: 'ok', last_success });
    clock.time += 5_000;
    fail(fresh(), 401);
    expect(backoff.health()).toEqual({
      ...{ status: 'failing', reason: 'the service answers 401', last_success },
      ...{ since: iso(clock.time), paused_until: iso(clock.time + 1_000) },
    });
  });
});
