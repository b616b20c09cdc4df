import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBackoff } from '../../../src/client/delivery/backoff.js';
import { createLocalStorage } from '../../support/local-storage.js';

const MINUTE = 60_000;

let time = 1_000_000;
const now = () => time;
const open = () => createBackoff('gate', now);

beforeEach(() => {
  time = 1_000_000;
  vi.stubGlobal('localStorage', createLocalStorage());
});
afterEach(() => vi.unstubAllGlobals());

describe('a destination', () => {
  it('is closed by a failure, for all pages of the site', () => {
    const trouble = open();
    expect(trouble.read()).toEqual({ since: 0, until: 0, isAsked: false });
    trouble.failed(0);
    const { since, until } = open().read();
    expect(since).toBe(time);
    expect(until).toBeGreaterThanOrEqual(time + 500);
    expect(until).toBeLessThanOrEqual(time + 1_000);
  });

  it('is not closed for longer by failures while it is closed', () => {
    const trouble = open();
    trouble.failed(0);
    const before = trouble.read();
    time += 100;
    trouble.failed(0);
    expect(trouble.read()).toEqual(before);
  });

  it('waits longer the longer the trouble lasts, and not after a success', () => {
    const trouble = open();
    trouble.failed(0);
    time += 4 * MINUTE;
    trouble.failed(0);
    expect(trouble.read().until).toBeGreaterThanOrEqual(time + MINUTE);
    trouble.end();
    expect(trouble.read().until).toBe(0);
    trouble.failed(0);
    expect(trouble.read().until).toBeLessThanOrEqual(time + 1_000);
  });

  it('waits at least as long as the service asks, and up to half as long again', () => {
    const trouble = open();
    trouble.failed(MINUTE);
    const { until, isAsked } = trouble.read();
    expect(until).toBeGreaterThanOrEqual(time + MINUTE);
    expect(until).toBeLessThanOrEqual(time + 1.5 * MINUTE);
    expect(isAsked).toBe(true);
  });

  it('is closed for longer by a Retry-After that comes while it is closed, and never for less', () => {
    const trouble = open();
    trouble.failed(10 * MINUTE);
    const { until } = trouble.read();
    trouble.failed(MINUTE);
    expect(trouble.read().until).toBe(until);
    trouble.failed(60 * MINUTE);
    expect(trouble.read().until).toBeGreaterThan(until);
  });

  it('goes on within two seconds when the network is back, but not before what the service asked for', () => {
    const trouble = open();
    trouble.failed(0);
    time += 10 * MINUTE;
    trouble.failed(0);
    trouble.online();
    expect(trouble.read().until).toBeLessThanOrEqual(time + 2_000);
    trouble.failed(MINUTE);
    const { until } = trouble.read();
    trouble.online();
    expect(trouble.read().until).toBe(until);
  });

  it('is open where the clock was set back since', () => {
    const trouble = open();
    trouble.failed(60 * MINUTE);
    time -= 24 * 60 * MINUTE;
    expect(trouble.read().until).toBe(0);
  });

  it('waits longer the longer the trouble lasts after the clock was set back, too', () => {
    const DAY = 24 * 60 * MINUTE;
    time += DAY;
    const trouble = open();
    trouble.failed(0);
    time -= DAY;
    trouble.failed(0);
    time += 4 * MINUTE;
    trouble.failed(0);
    expect(trouble.read().until).toBeGreaterThanOrEqual(time + MINUTE);
  });

  it('is open for all pages of the site once one of them has opened it', () => {
    const trouble = open();
    const other = open();
    trouble.failed(MINUTE);
    expect(other.read()).toEqual(trouble.read());
    trouble.end();
    expect(other.read()).toEqual({ since: 0, until: 0, isAsked: false });
  });

  it('is remembered by the page where localStorage is full', () => {
    const trouble = open();
    vi.stubGlobal(
      'localStorage',
      createLocalStorage(new Map(), () => 0),
    );
    trouble.failed(0);
    expect(trouble.read().until).toBeGreaterThan(time);
  });
});
