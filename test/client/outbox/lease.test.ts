import { describe, expect, it } from 'vitest';
import { LEASE_MS } from '../../../src/client/outbox/lease.js';
import { isSafe } from '../../../src/client/outbox/store.js';
import { clock, openPage } from '../../support/outbox-page.js';

describe('what a page holds', () => {
  it('is anybody’s when the clock was set back far, which nobody would wait for', async () => {
    clock.time += 3_600_000;
    const page = openPage();
    page.add('a');
    await page.stored();
    const entry = page.entry('a');
    clock.time -= 3_600_000;
    expect(isSafe(page.outbox, entry.parcel)).toBe(false);
    expect(await openPage().claim()).toEqual(['a']);
    expect(await page.claim()).toEqual([]);
  });

  it('is held for longer by a page that looks now and then', async () => {
    const page = openPage();
    page.add('a');
    await page.stored();
    clock.time += LEASE_MS / 2;
    page.look();
    await page.written();
    clock.time += LEASE_MS / 2;
    expect(await openPage().claim()).toEqual([]);
  });
});
