import { beforeEach, describe, expect, it } from 'vitest';
import { createGate } from '../../../src/client/delivery/gate.js';
import { createFakeShelf, type FakeShelf } from '../../support/fake-shelf.js';

const START = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const NONE = { since: 0, until: 0, floor: 0 };
let shelf: FakeShelf;
let now: number;

beforeEach(() => {
  shelf = createFakeShelf();
  now = START;
});

const gateOf = (random: number = 1) =>
  createGate({
    load: () => shelf.get('gate'),
    save: (value) => shelf.set('gate', value),
    now: () => now,
    random: () => random,
  });
const stored = (): unknown => JSON.parse(shelf.get('gate')!);

describe('a gate', () => {
  it('is open at first', () => {
    expect(gateOf().until()).toBe(0);
  });

  it('closes for half as long as the trouble has lasted, and for a second at least', () => {
    const gate = gateOf();
    const waits = Array.from({ length: 7 }, () => {
      gate.close(0);
      const wait = gate.until() - now;
      now = gate.until();
      return wait;
    });
    expect(waits).toEqual([1_000, 1_000, 1_000, 1_500, 2_250, 3_375, 5_062.5]);
  });

  it('closes for five minutes at most', () => {
    const gate = gateOf();
    gate.close(0);
    now += DAY_MS;
    gate.close(0);
    expect(gate.until() - now).toBe(300_000);
  });

  it('takes a failure while it is closed for the same trouble', () => {
    const gate = gateOf();
    expect(gate.close(0)).toBe(true);
    now += 500;
    expect(gate.close(0)).toBe(false);
    expect(gate.until() - now).toBe(500);
  });

  it('stays doubtful after its time until a record has passed', () => {
    const gate = gateOf();
    gate.close(0);
    now += 10_000;
    expect(gate.until()).toBeLessThan(now);
    expect(gate.until()).toBeGreaterThan(0);
    gate.open();
    expect(stored()).toEqual(NONE);
    gate.close(0);
    expect(gate.until() - now).toBe(1_000);
  });

  it('is closed by no record that has failed since before others passed', () => {
    const gate = gateOf();
    const failedSince = now;
    expect(gate.close(0)).toBe(true);
    now += 60_000;
    gate.open();
    expect(gate.close(0, failedSince)).toBe(false);
    expect(gate.until()).toBe(0);
    now += 60_000;
    gate.close(0);
    const until = gate.until();
    now = until;
    expect(gate.close(0, failedSince)).toBe(false);
    expect(gate.until()).toBe(until);
    expect(gate.close(60_000, failedSince)).toBe(true);
    expect(gate.until() - now).toBe(90_000);
  });

  it('is closed for longer by a record that has failed since the trouble began', () => {
    const gate = gateOf();
    const failedSince = now;
    gate.close(0);
    now += 60_000;
    expect(gate.close(0, failedSince)).toBe(true);
    expect(gate.until() - now).toBe(30_000);
  });

  it('hears what the service asks for from whichever answer has it', () => {
    const gate = gateOf(0);
    gate.close(0);
    gate.close(60_000);
    expect(gate.until() - now).toBe(60_000);
    gate.close(10_000);
    expect(gate.until() - now).toBe(60_000);
    expect(gate.floor() - now).toBe(60_000);
  });

  it('comes back spread over half of what the service has asked for, and over five minutes at most', () => {
    const gate = gateOf();
    gate.close(60_000);
    expect(gate.until() - now).toBe(90_000);
    gate.close(3_600_000);
    expect(gate.until() - now).toBe(3_600_000 + 300_000);
  });

  it('waits as long as it was asked to, whatever a request from before is answered', () => {
    const gate = gateOf();
    gate.close(60_000);
    gate.open();
    expect(gate.until() - now).toBe(60_000);
    now += 60_000;
    gate.open();
    expect(gate.until()).toBe(0);
  });

  it('is shared by the pages of a site', () => {
    const [one, other] = [gateOf(), gateOf()];
    one.close(0);
    expect(other.until()).toBe(one.until());
    other.open();
    expect(one.until()).toBe(0);
  });

  it('opens sooner where something has changed, and not before the service has asked to be asked', () => {
    const gate = gateOf();
    gate.hasten(0);
    expect(shelf.keys()).toEqual([]);
    gate.close(0);
    now += 100_000;
    gate.close(0);
    gate.hasten(2_000);
    expect(gate.until() - now).toBe(2_000);
    gate.hasten(10_000);
    expect(gate.until() - now).toBe(2_000);
    gate.close(60_000);
    gate.hasten(0);
    expect(gate.until() - now).toBe(60_000);
  });

  it('stays doubtful where something has changed', () => {
    const gate = gateOf();
    gate.close(0);
    gate.hasten(0);
    expect(gate.until()).toBe(now);
  });

  it('is not locked by a clock that was set back', () => {
    const gate = gateOf();
    gate.close(3_600_000);
    now -= DAY_MS;
    expect(gate.until()).toBe(0);
    gate.close(0);
    expect(gate.until() - now).toBe(1_000);
    gate.hasten(0);
    expect(gate.until()).toBe(now);
  });

  it('works for one page where it cannot be kept', () => {
    shelf.blocked = true;
    const [one, other] = [gateOf(), gateOf()];
    one.close(0);
    expect(one.until() - now).toBe(1_000);
    expect(other.until()).toBe(0);
    one.open();
    expect(one.until()).toBe(0);
  });

  it('outlives a site that clears localStorage, whichever page has closed it', () => {
    for (const closes of [gateOf(), undefined]) {
      const gate = gateOf();
      (closes ?? gate).close(60_000);
      const until = gate.until();
      shelf.values.clear();
      expect(gate.until()).toBe(until);
      expect(until).toBeGreaterThan(now);
    }
  });

  it('that could not be kept obeys the longer wait of a page that could', () => {
    const gate = gateOf();
    shelf.blocked = true;
    gate.close(0);
    shelf.blocked = false;
    gateOf().close(60_000);
    const until = gateOf().until();
    expect(gate.until()).toBe(until);
  });

  it.each([
    '{',
    'null',
    '5',
    '"x"',
    '[]',
    '{}',
    '{"until":5}',
    '{"n":1,"until":9e15,"floor":0}',
    '{"since":1,"until":null,"floor":0}',
    '{"since":1,"until":1,"floor":"9"}',
  ])('is not locked by %j under its name', (text) => {
    shelf.set('gate', text);
    const gate = gateOf();
    expect(gate.until()).toBe(0);
    gate.close(0);
    expect(gate.until() - now).toBe(1_000);
    gate.open();
    expect(gate.until()).toBe(0);
  });
});
