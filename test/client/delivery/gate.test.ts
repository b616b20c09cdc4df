import { beforeEach, describe, expect, it } from 'vitest';
import { createGate } from '../../../src/client/delivery/gate.js';
import { createFakeShelf, type FakeShelf } from '../../support/fake-shelf.js';

const START = Date.UTC(2026, 0, 1);
let shelf: FakeShelf;
let now: number;

beforeEach(() => {
  shelf = createFakeShelf();
  now = START;
});

const gateOf = (random: number | (() => number) = 0.5) => {
  const gate = createGate({
    load: () => shelf.get('gate'),
    save: (value) => shelf.set('gate', value),
    now: () => now,
    random: () => (typeof random === 'number' ? random : random()),
  });
  const close = (retryAfterMs: number, again: boolean, known = 0, isSilent = false) =>
    gate.close({ retryAfterMs, again, known, isSilent });
  return { ...gate, close };
};

describe('a gate', () => {
  it('is open at first', () => {
    const gate = gateOf();
    expect(gate.until()).toBeLessThanOrEqual(now);
    expect(gate.until()).toBe(0);
  });

  it('closes for longer with each failure, and for much longer from the second in a row', () => {
    const gate = gateOf();
    const delays = [1, 2, 3, 4].map(() => {
      gate.close(0, false, gate.until());
      return gate.until() - now;
    });
    expect(delays).toEqual([500, 8_000, 16_000, 32_000]);
  });

  it('closes for little longer where nothing answers: that may be this network alone', () => {
    const gate = gateOf();
    const delays = [1, 2, 3].map(() => {
      gate.close(0, false, gate.until(), true);
      return gate.until() - now;
    });
    expect(delays).toEqual([500, 1_000, 2_000]);
    gate.close(0, false, gate.until());
    expect(gate.until() - now).toBe(8_000);
  });

  it('counts on from one failure where a request has passed since', () => {
    const gate = gateOf();
    for (const delay of [500, 1_000, 2_000]) {
      gate.close(0, false, gate.until());
      gate.close(0, true); // by a parallel request, too
      expect(gate.until() - now).toBe(delay);
      const { n } = JSON.parse(shelf.get('gate')!) as { n: number };
      shelf.set('gate', JSON.stringify({ n, until: 0, floor: 0 })); // one has passed, and nothing is forgotten
    }
  });

  it('does not take the failures of two pages at once for two in a row', () => {
    const [one, other] = [gateOf(), gateOf()];
    one.close(0, false, 0);
    other.close(0, false, 0);
    expect(one.until() - now).toBe(1_000);
  });

  it('stays doubtful after its time until it is opened', () => {
    const gate = gateOf();
    gate.close(0, false);
    now += 10_000;
    expect(gate.until()).toBeLessThan(now);
    expect(gate.until()).toBeGreaterThan(0);
    gate.open();
    expect(gate.until()).toBe(0);
    expect(JSON.parse(shelf.get('gate')!)).toEqual({ n: 0, until: 0, floor: 0 });
  });

  it('that another page has closed for longer stays so, whatever was started before fails', () => {
    const gate = gateOf();
    gateOf().close(60_000, false);
    const until = gate.until();
    gate.close(0, false, 0);
    expect(gate.until()).toBe(until);
  });

  it('is lifted where nothing is closed', () => {
    const gate = gateOf();
    gate.lift();
    expect(gate.until()).toBe(0);
    expect(shelf.keys()).toEqual([]);
  });

  it('forgets one failure with each request that passes', () => {
    const gate = gateOf();
    for (let i = 0; i < 5; i++) gate.close(0, false);
    gate.open();
    expect(gate.until()).toBe(0);
    expect(gate.until()).toBeLessThanOrEqual(now);
    gate.close(0, false);
    expect(gate.until() - now).toBe(8_000);
    expect(gate.until()).toBeGreaterThan(0);
  });

  it('remembers nothing after as many', () => {
    const gate = gateOf();
    for (let i = 0; i < 5; i++) gate.close(0, false);
    for (let i = 0; i < 5; i++) gate.open();
    expect(JSON.parse(shelf.get('gate')!)).toEqual({ n: 0, until: 0, floor: 0 });
    gate.close(0, false);
    expect(gate.until() - now).toBe(500);
  });

  it('remembers no more failures than change the delay', () => {
    const gate = gateOf();
    for (let i = 0; i < 100; i++) gate.close(0, false);
    expect(gate.until() - now).toBe(150_000);
    for (let i = 0; i < 10; i++) gate.open();
    expect(JSON.parse(shelf.get('gate')!)).toEqual({ n: 0, until: 0, floor: 0 });
  });

  it('closes for a request from before, that fails after another has passed', () => {
    const gate = gateOf();
    for (let i = 0; i < 2; i++) gate.close(0, false);
    gate.open();
    gate.close(0, true);
    expect(gate.until()).toBeGreaterThan(0);
    expect(gate.until() - now).toBe(1_000);
  });

  it('reserves nothing for what it only remembers', () => {
    const gate = gateOf();
    for (let i = 0; i < 2; i++) gate.close(0, false);
    gate.open();
    gate.reserve(5_000);
    expect(gate.until()).toBe(0);
    expect(gate.until()).toBeLessThanOrEqual(now);
  });

  it('takes the same failure, seen twice, for one', () => {
    const gate = gateOf();
    gate.close(0, false);
    gate.close(0, true);
    gate.close(0, true);
    expect(gate.until() - now).toBe(500);
    now += 1_000;
    gate.close(0, true); // by one that took longer to fail than the gate was closed
    expect(gate.until() - now).toBe(-500);
    gate.close(0, false);
    expect(gate.until() - now).toBe(1_000);
  });

  it("hears the server's wish from whichever answer has it", () => {
    const gate = gateOf(0);
    gate.close(0, false);
    gate.close(60_000, true);
    expect(gate.until() - now).toBe(60_000);
    gate.close(10_000, true);
    expect(gate.until() - now).toBe(60_000);
  });

  it('comes back spread as widely as the wish is long: many may have been told the same moment', () => {
    const gate = gateOf();
    gate.close(60_000, false);
    expect(gate.until() - now).toBeCloseTo(60_000 + 30_000, 3);
    gate.close(0, false, gate.until());
    expect(gate.until() - now).toBeCloseTo(60_000, 3);
    gate.close(3_600_000, false, gate.until());
    expect(gate.until() - now).toBe(3_600_000 + 150_000);
  });

  it('does not wait longer because the same wish was told to several requests', () => {
    let draw = 0;
    const gate = gateOf(() => draw);
    gate.close(60_000, false);
    draw = 1;
    for (let i = 0; i < 5; i++) gate.close(60_000, true);
    expect(gate.until() - now).toBe(60_000);
  });

  it('is shared by the pages of a site', () => {
    const [one, other] = [gateOf(), gateOf()];
    one.close(60_000, false);
    expect(other.until()).toBe(one.until());
    expect(other.until()).toBeGreaterThan(0);
    other.open();
    expect(one.until()).toBe(0);
  });

  it('is lifted where nothing has asked for the wait, and stays where the service has', () => {
    const gate = gateOf();
    gate.close(0, false);
    gate.lift();
    expect(gate.until()).toBeLessThanOrEqual(now);
    gate.close(60_000, false);
    const until = gate.until();
    gate.lift();
    expect(gate.until()).toBe(until);
    now += 60_000;
    gate.lift();
    expect(gate.until()).toBeLessThanOrEqual(now);
  });

  it('remembers what the service has asked for through later failures and probes', () => {
    const [one, other] = [gateOf(0), gateOf(0)];
    one.close(60_000, false);
    other.close(0, false, one.until());
    other.reserve(5_000);
    now += 30_000;
    const until = other.until();
    other.lift();
    expect(other.until()).toBe(until);
  });

  it('is lifted in spite of a wish from before the clock was set back', () => {
    const gate = gateOf();
    gate.close(3_600_000, false);
    now -= 86_400_000;
    gate.close(0, false);
    gate.lift();
    expect(gate.until()).toBe(0);
  });

  it('is lifted after the clock was set back by an hour, where nothing has asked for a wait', () => {
    const gate = gateOf();
    gate.close(0, false);
    now -= 3_600_000;
    gate.lift();
    expect(gate.until()).toBe(0);
  });

  it('keeps other pages back while one probes', () => {
    const [one, other] = [gateOf(), gateOf()];
    one.close(0, false);
    now += 1_000;
    one.reserve(5_000);
    expect(other.until() - now).toBe(5_000);
  });

  it('reserves nothing while it is open', () => {
    const gate = gateOf();
    gate.reserve(5_000);
    expect(gate.until()).toBe(0);
  });

  it('counts a probe that fails once, with its reservation', () => {
    const gate = gateOf();
    gate.close(0, false);
    gate.reserve(5_000);
    gate.close(0, false, gate.until());
    expect(gate.until() - now).toBe(8_000);
    expect(JSON.parse(shelf.get('gate')!)).toMatchObject({ n: 5 });
  });

  it('is not locked by a clock that was set back', () => {
    const gate = gateOf();
    gate.close(3_600_000, false);
    now -= 86_400_000;
    expect(gate.until()).toBeLessThanOrEqual(now);
  });

  it('reserves nothing under a penalty of before the clock was set back', () => {
    const gate = gateOf();
    gate.close(3_600_000, false);
    now -= 86_400_000;
    gate.reserve(5_000);
    expect(gate.until()).toBe(0);
  });

  it('holds the longest wish there is', () => {
    const gate = gateOf();
    for (let i = 0; i < 20; i++) gate.close(3_600_000, false);
    expect(gate.until() - now).toBe(3_600_000 + 150_000);
  });

  it('works for one page where it cannot be kept', () => {
    shelf.blocked = true;
    const [one, other] = [gateOf(), gateOf()];
    one.close(0, false);
    one.close(0, false);
    expect(one.until() - now).toBe(1_000);
    expect(one.until()).toBeGreaterThan(0);
    expect(other.until()).toBe(0);
    one.open();
    expect(one.until()).toBe(0);
  });

  it('outlives a site that clears localStorage, within the page', () => {
    const gate = gateOf();
    gate.close(60_000, false);
    const until = gate.until();
    shelf.values.clear();
    expect(gate.until()).toBe(until);
    expect(gate.until()).toBeGreaterThan(0);
  });

  it('that another page has closed outlives a site that clears localStorage', () => {
    const gate = gateOf();
    gateOf().close(60_000, false);
    const until = gate.until();
    shelf.values.clear();
    expect(gate.until()).toBe(until);
  });

  it('opens for all pages with one request that has passed', () => {
    const [one, other] = [gateOf(), gateOf()];
    one.close(0, false);
    expect(other.until()).toBeGreaterThan(0);
    one.open();
    expect(other.until()).toBe(0);
  });

  it('that could not be kept obeys the longer wait of a page that could', () => {
    const gate = gateOf();
    shelf.blocked = true;
    gate.close(0, false);
    shelf.blocked = false;
    gateOf().close(60_000, false);
    const until = gateOf().until();
    expect(gate.until()).toBe(until);
    gateOf().open();
    expect(gate.until() - now).toBe(500);
  });

  it.each([
    '{',
    'null',
    '5',
    '"x"',
    '[]',
    '{}',
    '{"until":5}',
    '{"n":1e9,"until":null}',
    '{"n":"1","until":9e15}',
    '{"n":1,"until":1,"floor":"9"}',
  ])('is not locked by %j under its name', (text) => {
    shelf.set('gate', text);
    const gate = gateOf();
    expect(gate.until() > now).toBe(false);
    gate.close(0, false);
    expect(gate.until() - now).toBeGreaterThan(0);
    expect(gate.until() - now).toBeLessThanOrEqual(300_000);
    gate.open();
    expect(gate.until()).toBe(0);
  });
});
