import { describe, expect, it } from 'vitest';
import { LEASE_MS } from '../../../src/client/outbox/lease.js';
import { finish, leave } from '../../../src/client/outbox/outbox.js';
import { checkLease, isSafe } from '../../../src/client/outbox/store.js';
import { clock, openPage } from '../../support/outbox-page.js';

describe('what a page holds', () => {
  it('is nobody else’s while it lives, and another page’s after a standstill in which that has claimed it', async () => {
    const page = openPage();
    page.add('a');
    await page.stored();
    const late = page.entry('a');
    const other = openPage();
    clock.time += LEASE_MS - 1;
    expect(await other.claim()).toEqual([]);
    expect(other.claims.elsewhere()).toBe(1);
    clock.time += 1;
    expect(await other.claim()).toEqual(['a']);
    expect(isSafe(page.outbox, late.parcel)).toBe(false);
    expect(await page.claim()).toEqual([]);
    // What the former life of the page says of it changes nothing.
    finish(page.outbox, late);
    page.add('later');
    await page.stored();
    expect(other.held()).toEqual(['a']);
    leave(other.outbox, true);
    await other.written();
    expect((await openPage().claim())[0]).toBe('a');
  });
});

describe('a request with a record', () => {
  it('starts under a lease that lasts for long enough, or for a record that nobody else can have', async () => {
    const page = openPage();
    page.add('a');
    const { parcel } = page.entry('a');
    expect(isSafe(page.outbox, parcel)).toBe(true);
    await page.stored();
    clock.time += LEASE_MS - 10_001;
    expect(isSafe(page.outbox, parcel)).toBe(true);
    clock.time += 1;
    expect(isSafe(page.outbox, parcel)).toBe(false);
  });
});

describe('a lease that is over', () => {
  it('begins another life, which keeps what no other page can have', async () => {
    const page = openPage();
    page.add('stored');
    await page.stored();
    const { life } = page.outbox;
    page.add('fresh');
    page.outbox.dirty.clear(); // its write has not begun
    clock.time += LEASE_MS;
    checkLease(page.outbox);
    expect(page.outbox.life).not.toBe(life);
    expect(page.held()).toEqual(['fresh']);
    expect([...page.outbox.dirty]).toEqual([page.entry('fresh').parcel]);
    expect(await page.claim()).toEqual(['stored', 'fresh']);
  });
});
