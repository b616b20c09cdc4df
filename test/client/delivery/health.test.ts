import { beforeEach, describe, expect, it } from 'vitest';
import { createGate } from '../../../src/client/delivery/gate.js';
import { createHealth } from '../../../src/client/delivery/health.js';
import { SLOW_MS } from '../../../src/client/delivery/pauses.js';
import type { Attempt } from '../../../src/client/delivery/sender.js';
import { createTroubles } from '../../../src/client/delivery/troubles.js';
import { createEntry, createParcel } from '../../../src/client/outbox/parcel.js';
import { createFakeShelf } from '../../support/fake-shelf.js';
import { makeRecord } from '../../support/make-record.js';

let now: number;
let isOnline: boolean;

beforeEach(() => {
  now = Date.UTC(2026, 0, 1);
  isOnline = true;
});

const create = (shelf = createFakeShelf()) => {
  const gate = createGate({
    load: () => shelf.get('gate'),
    save: (value) => shelf.set('gate', value),
    now: () => now,
    random: () => 0.5,
  });
  const troubles = createTroubles();
  const effects = {
    gate,
    mayRun: () => true,
    concurrency: () => 6,
    now: () => now,
    random: () => 0.5,
    isOnline: () => isOnline,
  };
  const health = createHealth(effects, troubles);
  return { gate, health, shelf, troubles };
};

let made = 0;
const entry = () => createEntry(makeRecord(`r${made++}`), createParcel([0, 'maker', 1]));
const attempt = (status: number, retryAfterMs = 0): Attempt => ({
  outcome: 'retry',
  status,
  retryAfterMs,
  problem: '',
});

type Health = ReturnType<typeof create>['health'];

/** One that has failed while another passed. */
const suspectOf = (health: Health) => {
  const suspect = entry();
  const started = health.begin();
  health.passed(health.begin(), 1);
  expect(health.failed([suspect], attempt(500), started)).toBe(true);
  return suspect;
};

describe('the health of a destination', () => {
  it('is good at first', () => {
    const { health } = create();
    expect(health.pause()).toEqual([undefined, 0]);
    expect(health.width()).toBe(6);
    expect(health.isProbing()).toBe(false);
  });

  it('widens 1, 2, 4, 6 after a failure', () => {
    const { health } = create();
    health.failed([entry()], attempt(500), health.begin());
    const widths = [health.width()];
    for (let i = 0; i < 4; i++) {
      now += 10_000;
      health.passed(health.begin(), 1);
      widths.push(health.width());
    }
    expect(widths).toEqual([1, 2, 4, 6, 6]);
  });

  it('says what of the requests under way is of before the failure', () => {
    const { health } = create();
    const before = health.begin();
    expect(health.isCurrent(before)).toBe(true);
    health.failed([entry()], attempt(500), health.begin());
    expect(health.isCurrent(before)).toBe(false);
  });

  it('keeps a wait from after the clock was set back, whoever passes of before', () => {
    const { health, gate } = create();
    const before = health.begin();
    now -= 3_600_000;
    health.failed([entry()], attempt(429, 60_000), health.begin());
    const until = gate.until();
    health.passed(before, 1);
    expect(gate.until()).toBe(until);
    expect(gate.until()).toBeGreaterThan(0);
  });

  it('is not blamed for a record that fails while others pass', () => {
    const { health, troubles } = create();
    expect(troubles.see(suspectOf(health)).dueAt).toBeGreaterThan(now);
    expect(health.pause()).toEqual([undefined, 0]);
  });

  it.each([
    ['429', attempt(429)],
    ['a wish to wait', attempt(503, 5_000)],
  ])('is bad with %s, though others pass', (_, answer) => {
    const { health } = create();
    const started = health.begin();
    health.passed(health.begin(), 1);
    expect(health.failed([entry()], answer, started)).toBe(false);
    expect(health.pause()[0]).toBe('backoff');
  });

  it('is paused after three failures in a row without an answer', () => {
    const { health } = create();
    for (let i = 0; i < 3; i++) {
      expect(health.pause()[0]).not.toBe('unreachable');
      health.failed([entry()], attempt(0), health.begin());
    }
    expect(health.pause()).toEqual(['unreachable', now + SLOW_MS]);
    health.resume();
    expect(health.pause()).toEqual([undefined, 0]);
  });

  it('is not unreachable where an answer came in between', () => {
    const { health } = create();
    for (const status of [0, 0, 500, 0, 0]) {
      health.failed([entry()], attempt(status), health.begin());
      now += 600_000;
    }
    expect(health.pause()).toEqual([undefined, 0]);
  });

  it('is not blamed for several, and lets them wait by the one that failed least', () => {
    const { health, troubles } = create();
    const [often, once] = [entry(), entry()];
    troubles.of(often).failures = 5;
    const started = health.begin();
    health.passed(health.begin(), 1);
    expect(health.failed([often, once], attempt(500), started)).toBe(true);
    expect([often, once].map((one) => troubles.see(one).dueAt - now)).toEqual([500, 500]);
  });

  it('is blamed for several of which one has never failed beside others', () => {
    const { health } = create();
    const suspect = suspectOf(health);
    expect(health.failed([suspect, entry()], attempt(500), health.begin())).toBe(false);
    expect(health.pause()[0]).toBe('backoff');
  });

  it('is probed again at once where the probe failed by its own fault', () => {
    const { health, gate } = create();
    const suspect = suspectOf(health);
    health.failed([entry()], attempt(500), health.begin());
    now += 10_000;
    gate.reserve(5_000);
    expect(health.failed([suspect], attempt(500), health.begin())).toBe(true);
    expect(gate.until()).toBe(now);
  });

  it('waits on where another page has closed the gate while the probe failed by its own fault', () => {
    const { health, gate, shelf } = create();
    const suspect = suspectOf(health);
    health.failed([entry()], attempt(500), health.begin());
    now += 10_000;
    const probe = health.begin();
    const other = create(shelf);
    other.health.failed([entry()], attempt(429, 60_000), other.health.begin());
    const until = gate.until();
    expect(health.failed([suspect], attempt(500), probe)).toBe(true);
    expect(gate.until()).toBe(until);
  });

  it('has failed once where two parallel requests fail', () => {
    const { health } = create();
    const [one, other] = [health.begin(), health.begin()];
    expect(health.failed([entry()], attempt(500), one)).toBe(false);
    const next = health.begin();
    expect(health.failed([entry()], attempt(500), other)).toBe(false);
    expect(health.isCurrent(next)).toBe(true);
  });

  it.each([
    [403, 1, true, SLOW_MS],
    [403, 2, true, 500],
    [401, 1, false, 0],
  ])('refused with %i for %i of others that pass: theirs %s', (status, count, isOwn, waitMs) => {
    const { health, troubles } = create();
    const entries = Array.from({ length: count }, entry);
    const started = health.begin();
    health.passed(health.begin(), 1);
    const refusal = { ...attempt(status), outcome: 'blocked' as const };
    expect(health.failed(entries, refusal, started)).toBe(isOwn);
    expect(health.pause()).toEqual([undefined, 0]);
    for (const one of entries) expect(troubles.see(one).dueAt).toBe(waitMs && now + waitMs);
  });

  it('is tried once more by a page that is back online where nothing had answered', () => {
    const { health, gate } = create();
    health.failed([entry()], attempt(0), health.begin());
    expect(gate.until()).toBeGreaterThan(now);
    health.resume();
    expect(gate.until()).toBe(0);
  });

  it('is not tried sooner for that where it had answered', () => {
    const { health, gate } = create();
    health.failed([entry()], attempt(500), health.begin());
    const until = gate.until();
    health.resume();
    expect(gate.until()).toBe(until);
  });

  it('waits as long as it is told after the network is back, unless it is to hurry', () => {
    const { health } = create();
    health.resume(10_000);
    expect(health.pause()).toEqual(['backoff', now + 10_000]);
    health.hurry();
    expect(health.pause()).toEqual([undefined, 0]);
    health.resume(10_000);
    now += 10_000;
    expect(health.pause()).toEqual([undefined, 0]);
  });

  it('is probed by a page that starts under a penalty', () => {
    const first = create();
    first.health.failed([entry()], attempt(500), first.health.begin());
    const { health } = create(first.shelf);
    expect(health.isProbing()).toBe(true);
    expect(health.width()).toBe(1);
  });

  it('is not called good by a request of before the penalty', () => {
    const first = create();
    const { health, gate } = create(first.shelf);
    const started = health.begin();
    first.health.failed([entry()], attempt(429, 60_000), first.health.begin());
    health.passed(started, 1);
    expect(gate.until()).toBeGreaterThanOrEqual(now + 60_000);
  });

  it('is paused offline, and tried all the same after a while', () => {
    const { health } = create();
    isOnline = false;
    expect(health.pause()).toEqual(['offline', now + SLOW_MS]);
    now += SLOW_MS;
    expect(health.pause()).toEqual([undefined, 0]);
    isOnline = true;
    now += 1;
    expect(health.pause()).toEqual([undefined, 0]);
  });

  it('is paused anew where it is offline a second time, though nobody has said that it was online', () => {
    const { health } = create();
    isOnline = false;
    expect(health.pause()[0]).toBe('offline');
    isOnline = true;
    expect(health.pause()).toEqual([undefined, 0]);
    isOnline = false;
    now += 1;
    expect(health.pause()).toEqual(['offline', now + SLOW_MS]);
  });

  it('waits for the later of both where its network is back under a penalty', () => {
    const { health, gate } = create();
    health.failed([entry()], attempt(429, 60_000), health.begin());
    health.resume(10_000);
    expect(health.pause()).toEqual(['backoff', gate.until()]);
    now = gate.until();
    expect(health.pause()).toEqual([undefined, 0]);
  });

  it.each([
    ['wrong', (health: Health) => health.waitForSetUp()],
    [
      'unreachable',
      (health: Health) => {
        for (let i = 0; i < 3; i++) health.failed([entry()], attempt(0), health.begin());
        now += 10_000;
      },
    ],
  ])('is good again where a request of before it was %s passes', (_, spoil) => {
    const { health, gate } = create();
    const started = health.begin();
    spoil(health);
    expect(health.pause()[0]).toBeDefined();
    health.passed(started, 1);
    expect(health.pause()).toEqual([undefined, 0]);
    expect(gate.until()).toBeLessThan(now);
  });

  it('waits as its network is back, whatever an older request is answered', () => {
    const { health } = create();
    const started = health.begin();
    health.resume(20_000);
    health.passed(started, 1);
    expect(health.pause()).toEqual(['backoff', now + 20_000]);
  });

  it('is not paused for longer by a clock that was set back', () => {
    const { health } = create();
    health.waitForSetUp();
    expect(health.pause()[0]).toBe('setup');
    now -= 86_400_000;
    expect(health.pause()).toEqual([undefined, 0]);
  });
});
