import { describe, expect, it } from 'vitest';
import { createBackoff, type Sender } from '../../../src/server/deliver/backoff.js';
import { createTell } from '../../../src/server/hooks.js';

let made = 0;

const setUp = (most = 32) => {
  const clock = { time: 1_000_000 };
  const states: number[] = [];
  const told: string[] = [];
  const backoff = createBackoff({
    most,
    now: () => clock.time,
    ticks: () => clock.time,
    random: () => 1,
    tell: createTell({
      onMetric: (_, value) => states.push(value),
      onError: ({ kind, message }) => told.push(`${kind}: ${message}`),
      onRecovery: ({ kind, lastedMs }) => told.push(`${kind}: over after ${lastedMs} ms`),
    }),
  });
  /** How many requests it lets go when so many are under way already. */
  const fill = (underWay = 0): number => {
    let sent = underWay;
    while (backoff.allows(sent, '', 0)) sent++;
    return sent;
  };
  const fresh = (client = `c${made++}`): Sender => ({ key: `r${made++}`, client });
  const pass = (sender = fresh()) => backoff.passed(sender);
  const fail = (sender = fresh(), status = 500, retryAfterMs = 0, began = clock.time) => {
    const outcome = status === 403 || status === 404 || status === 401 ? 'blocked' : 'retry';
    backoff.failed(sender, { outcome, status, retryAfterMs }, began);
  };
  return { backoff, clock, states, told, fill, fresh, pass, fail };
};

const OUTAGE = 8;
const iso = (time: number): string => new Date(time).toISOString();

describe('the backoff toward the service', () => {
  it('doubles the number of requests with each round of answers, up to the most', () => {
    const { fill, pass } = setUp(20);
    const rounds = [fill()];
    for (let round = 0; round < 4; round++) {
      let underWay = rounds.at(-1)!;
      // As each answer comes, its place is filled again.
      for (let answers = rounds.at(-1)!; answers > 0; answers--) {
        pass();
        underWay = fill(underWay - 1);
      }
      rounds.push(underWay);
    }
    expect(rounds).toEqual([4, 8, 16, 20, 20]);
  });

  it('never goes above the most, and starts small when nothing was under way', () => {
    expect(setUp(2).fill()).toBe(2);
    const { fill, pass } = setUp();
    for (let passed = 0; passed < 28; passed++) pass();
    expect(fill(1)).toBe(32);
    expect(fill()).toBe(4);
  });

  it('has all wait when first records of several clients fail in a row, and lets one go then', () => {
    const { backoff, clock, states, fill, pass, fail } = setUp();
    for (let clients = 1; clients < OUTAGE; clients++) fail();
    expect(backoff.waitMs()).toBe(0);
    fail();
    expect(backoff.waitMs()).toBe(1_000);
    clock.time += 1_000;
    expect(backoff.waitMs()).toBe(0);
    expect(fill()).toBe(1);
    pass();
    expect(fill(1)).toBe(2);
    expect(states).toEqual([1, 0]);
  });

  it('has nobody else wait for a record that gets no answer while others pass', () => {
    const { backoff, clock, told, fresh, pass, fail } = setUp();
    const silent = fresh('bad');
    pass();
    const began = clock.time;
    clock.time += 10_000;
    pass();
    fail(silent, 0, 0, began);
    expect([backoff.waitMs(), backoff.clientWaitMs('bad')]).toEqual([0, 1_000]);
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
    for (let clients = 0; clients < OUTAGE; clients++) fail();
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

  it('has nobody wait for one client, and that one for half as long as it has failed', () => {
    const { backoff, clock, fresh, pass, fail } = setUp();
    const began = clock.time;
    for (let tries = 0; tries < 100; tries++) {
      fail(fresh('bad'));
      expect(backoff.clientWaitMs('bad')).toBe(
        Math.min(300_000, Math.max(1_000, (clock.time - began) / 2)),
      );
      expect([backoff.waitMs(), backoff.clientWaitMs('good')]).toEqual([0, 0]);
      clock.time += backoff.clientWaitMs('bad');
    }
    pass(fresh('bad'));
    fail(fresh('bad'));
    expect(backoff.clientWaitMs('bad')).toBe(1_000);
  });

  it('has the good records of a client wait for a second at most for a bad one', () => {
    const { backoff, clock, fresh, fail } = setUp();
    const bad = fresh('me');
    for (let tries = 0; tries < 100; tries++) {
      fail(bad);
      expect(backoff.clientWaitMs('me')).toBe(tries ? 0 : 1_000);
      clock.time += 10_000;
    }
    expect(backoff.triesOf(bad)).toBe(100);
  });

  it('lets one request at a time go of a client that fails, and of what has failed a quarter', () => {
    const { backoff, fresh, pass, fail } = setUp();
    for (let passed = 0; passed < 28; passed++) pass();
    fail(fresh('bad'));
    expect(backoff.allows(9, 'bad', 0)).toBe(true);
    expect(backoff.allows(9, 'bad', 1)).toBe(false);
    expect(backoff.allows(9, 'good', 9)).toBe(true);
    expect(backoff.allows(9, ' again', 7)).toBe(true);
    expect(backoff.allows(9, ' again', 8)).toBe(false);
  });

  it('gives a client half of what the others leave, and any client its first place', () => {
    const { backoff, pass } = setUp();
    for (let passed = 0; passed < 28; passed++) pass();
    const mostOf = (ofOthers: number): number => {
      let own = 0;
      while (backoff.allows(ofOthers + own, 'me', own)) own++;
      return own;
    };
    expect([1, 16, 24, 28, 31, 32].map(mostOf)).toEqual([16, 8, 4, 2, 1, 0]);
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
    fail(fresh('asks'), 503, 60_000);
    pass();
    expect(backoff.waitMs()).toBe(90_000);
    fail(fresh('bad'));
    backoff.tryNow();
    expect([backoff.waitMs(), backoff.clientWaitMs('bad')]).toEqual([0, 0]);
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

  it('tells of a set-up that is wrong from the start, also where only one client sends', () => {
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

  it.each([
    [599_999, 300_000],
    [600_000, 1_000],
  ])('begins anew with a client that has not failed for %i ms: it waits %i ms', (ms, wait) => {
    const { backoff, clock, fresh, pass, fail } = setUp();
    for (let tries = 0; tries < 20; tries++) {
      fail(fresh('bad'));
      pass();
      clock.time += backoff.clientWaitMs('bad');
    }
    clock.time += ms;
    fail(fresh('bad'));
    expect(backoff.clientWaitMs('bad')).toBe(wait);
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
