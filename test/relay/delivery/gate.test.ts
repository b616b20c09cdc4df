import { describe, expect, it } from 'vitest';
import { createGate } from '../../../src/relay/delivery/gate.js';
import { createTell } from '../../../src/relay/hooks.js';

let made = 0;

const setUp = (most = 32) => {
  const clock = { time: 1_000_000 };
  const states: number[] = [];
  const told: string[] = [];
  const gate = createGate({
    most,
    now: () => clock.time,
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
    while (gate.allows(sent)) sent++;
    return sent;
  };
  const fail = (id = `r${made++}`, retryAfterMs = 0, status = 503) =>
    gate.failed(id, { outcome: 'retry', status, retryAfterMs });
  return { gate, clock, states, told, fill, fail };
};

describe('the gate toward the service', () => {
  it('doubles the number of requests with each round of answers, up to the most', () => {
    const { gate, fill } = setUp(20);
    const rounds = [fill()];
    for (let round = 0; round < 4; round++) {
      let underWay = rounds.at(-1)!;
      // As each answer comes, its place is filled again.
      for (let answers = rounds.at(-1)!; answers > 0; answers--) {
        gate.passed();
        underWay = fill(underWay - 1);
      }
      rounds.push(underWay);
    }
    expect(rounds).toEqual([4, 8, 16, 20, 20]);
  });

  it('never goes above the most, and starts small when nothing was under way', () => {
    expect(setUp(2).fill()).toBe(2);
    const { gate, fill } = setUp();
    for (let passed = 0; passed < 28; passed++) gate.passed();
    expect(fill(1)).toBe(32);
    expect(fill()).toBe(4);
  });

  it('pauses for a second after the first failure, and lets one request go then', () => {
    const { gate, clock, states, fill, fail } = setUp();
    fail();
    expect(gate.waitMs()).toBe(1_000);
    clock.time += 1_000;
    expect(gate.waitMs()).toBe(0);
    expect(fill()).toBe(1);
    gate.passed();
    expect(fill(1)).toBe(2);
    expect(states).toEqual([1, 0]);
  });

  it('pauses for half as long as the service has failed, five minutes at most', () => {
    const { gate, clock, fail } = setUp();
    const began = clock.time;
    fail();
    for (let tries = 0; tries < 100; tries++) {
      clock.time += gate.waitMs();
      const age = clock.time - began;
      fail();
      expect(gate.waitMs()).toBe(Math.min(300_000, Math.max(1_000, age / 2)));
    }
    expect(gate.waitMs()).toBe(300_000);
  });

  it('pauses for a second while the same few records fail, however long that lasts', () => {
    const { gate, clock, fail } = setUp();
    for (let tries = 0; tries < 100; tries++) {
      fail(`bad ${tries % 3}`);
      expect(gate.waitMs()).toBe(1_000);
      clock.time += 60_000;
    }
  });

  it('takes failures of requests that were under way together for one', () => {
    const { gate, clock, fail } = setUp();
    for (let n = 0; n < 20; n++) fail();
    expect(gate.waitMs()).toBe(1_000);
    clock.time += 999;
    fail();
    expect(gate.waitMs()).toBe(1);
  });

  it('opens with any record that the service takes', () => {
    const { gate, states, fail } = setUp();
    fail();
    gate.passed();
    expect(gate.waitMs()).toBe(0);
    expect(states).toEqual([1, 0]);
  });

  it('waits as long as the service asks, whatever was under way', () => {
    const { gate, fail } = setUp();
    fail();
    fail('asks', 60_000);
    gate.passed();
    expect(gate.waitMs()).toBe(90_000);
  });

  it('does not wait for a clock that was set back by hours to catch up', () => {
    const { gate, clock, fail } = setUp();
    clock.time = Date.UTC(2026, 0);
    for (let records = 0; records < 9; records++) fail();
    clock.time -= 10_000_000;
    expect(gate.waitMs()).toBe(0);
    fail('r', 60_000);
    expect(gate.waitMs()).toBe(90_000);
    clock.time -= 10_000_000;
    expect(gate.waitMs()).toBe(0);
  });

  it('tells of a service that fails more than once in a row, and when that is over', () => {
    const { gate, clock, told, fail } = setUp();
    fail();
    gate.passed();
    expect(told).toEqual([]);
    fail();
    for (let tries = 0; tries < 5; tries++) {
      clock.time += gate.waitMs();
      fail();
    }
    expect(told).toEqual(['service: the service answers 503; records wait']);
    clock.time += 500;
    gate.passed();
    expect(told[1]).toMatch(/^service: over after \d+ ms$/);
    expect(told).toHaveLength(2);
  });

  it('tells of a set-up that is wrong, and nothing of one record that is refused now and then', () => {
    const { gate, clock, told } = setUp();
    const block = () => gate.failed('bad', { outcome: 'blocked', status: 403, retryAfterMs: 0 });
    for (let tries = 0; tries < 10; tries++) {
      block();
      clock.time += 60_000;
      gate.passed();
    }
    expect(told).toEqual([]);
    block();
    clock.time += 1_000;
    block();
    expect(told).toEqual(['setup: the service answers 403: check `baseUrl` and `token`']);
  });

  it('says how it stands with the service', () => {
    const { gate, clock, fail } = setUp();
    expect(gate.state()).toEqual({});
    gate.passed();
    const lastSuccess = clock.time;
    expect(gate.state()).toEqual({ lastSuccess });
    clock.time += 5_000;
    fail('a', 0, 401);
    const trouble = { since: clock.time, until: clock.time + 1_000, status: 401 };
    expect(gate.state()).toEqual({ lastSuccess, trouble });
  });
});
