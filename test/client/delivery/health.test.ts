import { beforeEach, describe, expect, it } from 'vitest';
import { createGate } from '../../../src/client/delivery/gate.js';
import { createHealth } from '../../../src/client/delivery/health.js';
import type { Attempt } from '../../../src/client/delivery/sender.js';
import { createFakeShelf } from '../../support/fake-shelf.js';

let now: number;
let isOnline: boolean;
let mayRun: boolean;

beforeEach(() => {
  now = Date.UTC(2026, 0, 1);
  isOnline = true;
  mayRun = true;
});

const create = (shelf = createFakeShelf()) => {
  const clock = { now: () => now, random: () => 0.5 };
  const gate = createGate({
    load: () => shelf.get('gate'),
    save: (value) => shelf.set('gate', value),
    ...clock,
  });
  const health = createHealth({
    gate,
    mayRun: () => mayRun,
    concurrency: () => 6,
    isOnline: () => isOnline,
    ...clock,
  });
  return { gate, health, shelf };
};

const attempt = (status: number, retryAfterMs = 0): Attempt => ({
  outcome: 'retry',
  status,
  retryAfterMs,
  problem: '',
});
const refusal: Attempt = { ...attempt(403), outcome: 'blocked' };

/** Fails so often, each time when the gate has opened. */
const failAll = ({ health, gate }: ReturnType<typeof create>, ...attempts: Attempt[]) => {
  for (const one of attempts) {
    now = Math.max(now, gate.until());
    health.failed(one);
  }
};

describe('the health of a destination', () => {
  it('is good at first', () => {
    const { health } = create();
    expect(health.pause()).toEqual([undefined, 0]);
    expect(health.width()).toBe(6);
    expect(health.pace()).toBe(Infinity);
  });

  it('allows 1, 2, 4, 6 requests after a failure, as each passes', () => {
    const { health } = create();
    health.failed(attempt(500));
    const widths = [health.width()];
    for (let i = 0; i < 4; i++) {
      health.passed();
      widths.push(health.width());
    }
    expect(widths).toEqual([1, 2, 4, 6, 6]);
    expect(health.pace()).toBe(16);
  });

  it('says which requests are from before the failure', () => {
    const { health } = create();
    const before = health.begin();
    expect(health.isCurrent(before)).toBe(true);
    health.failed(attempt(500));
    expect(health.isCurrent(before)).toBe(false);
    const probe = health.begin();
    health.failed(attempt(500)); // at the same time as the first
    expect(health.isCurrent(probe)).toBe(true);
  });

  it('is asked by one request at a time of a page that starts while others fail', () => {
    const first = create();
    first.health.failed(attempt(500));
    const { health } = create(first.shelf);
    expect(health.width()).toBe(1);
    now += 10_000;
    expect(health.pause()).toEqual([undefined, 0]);
    expect(health.width()).toBe(1);
  });

  it.each([
    ['backoff', [attempt(500)]],
    ['backoff', [attempt(0), attempt(0)]],
    ['unreachable', [attempt(0), attempt(0), attempt(0)]],
    ['backoff', [attempt(0), attempt(0), attempt(500), attempt(0)]],
    ['setup', [attempt(0), refusal]],
    ['backoff', [refusal, attempt(500)]],
  ])('names the reason of the last failure: %s', (reason, attempts) => {
    const world = create();
    failAll(world, ...attempts);
    expect(world.health.pause()).toEqual([reason, world.gate.until()]);
    now = world.gate.until();
    expect(world.health.pause()).toEqual([undefined, 0]);
    // One request at a time goes now, to see whether it is over.
    expect(world.health.reason()).toBe(reason);
  });

  it('counts requests that go unanswered together as one', () => {
    const { health } = create();
    for (let i = 0; i < 3; i++) health.failed(attempt(0));
    expect(health.pause()[0]).toBe('backoff');
    expect(health.isUnreachable()).toBe(false);
  });

  it('is called offline where the browser says so, and asked all the same', () => {
    const { health, gate } = create();
    isOnline = false;
    expect(health.pause()).toEqual([undefined, 0]);
    health.failed(attempt(0));
    expect(health.pause()).toEqual(['offline', gate.until()]);
  });

  it('is called unreachable only where the browser says that it is online', () => {
    const world = create();
    failAll(world, attempt(0), attempt(0), attempt(0));
    expect(world.health.isUnreachable()).toBe(true);
    isOnline = false;
    expect(world.health.isUnreachable()).toBe(false);
  });

  it('waits for the same time without a token', () => {
    const { health, gate } = create();
    health.lacksToken();
    expect(health.pause()).toEqual(['setup', gate.until()]);
    expect(gate.until() - now).toBe(750);
  });

  it('has no reason left once a record has passed', () => {
    const world = create();
    failAll(world, attempt(0), attempt(0), refusal);
    world.health.passed();
    expect(world.health.pause()).toEqual([undefined, 0]);
    expect(world.health.reason()).toBeUndefined();
    failAll(world, attempt(0));
    expect(world.health.pause()[0]).toBe('backoff');
  });

  it('is tried within two seconds after the network is back', () => {
    const world = create();
    failAll(world, attempt(0));
    now += 600_000;
    failAll(world, attempt(0));
    world.health.comeOnline();
    expect(world.gate.until() - now).toBe(1_000);
  });

  it('is tried at once with another set-up', () => {
    const world = create();
    failAll(world, refusal);
    world.health.reconfigure();
    expect(world.health.pause()).toEqual([undefined, 0]);
    expect(world.health.width()).toBe(1);
  });

  it('waits for consent before all', () => {
    const world = create();
    failAll(world, refusal);
    mayRun = false;
    expect(world.health.pause()).toEqual(['consent', 0]);
    expect(world.health.reason()).toBe('consent');
  });
});
