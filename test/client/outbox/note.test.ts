import { describe, expect, it, vi } from 'vitest';
import { LEASE_MS } from '../../../src/client/outbox/lease.js';
import { finish, leave } from '../../../src/client/outbox/outbox.js';
import { clock, openPage, shelf } from '../../support/outbox-page.js';

describe('an exit note', () => {
  it('carries what the database did not get', async () => {
    const page = openPage();
    await page.written();
    page.add('a');
    vi.spyOn(page.database, 'run').mockRejectedValue(new Error('the page is gone'));
    leave(page.outbox, true);
    expect(await openPage().claim()).toEqual(['a']);
    expect([...shelf.keys()].filter((key) => key.includes(' note '))).toEqual([]);
  });

  it('that a killed browser brings back changes nothing', async () => {
    const page = openPage();
    await page.written();
    page.add('a');
    vi.spyOn(page.database, 'run').mockRejectedValue(new Error('the page is gone'));
    leave(page.outbox, true);
    const [[key, note]] = [...shelf] as [[string, string]];
    const next = openPage();
    await next.claim();
    finish(next.outbox, next.entry('a'));
    await next.stored();
    shelf.set(key, note);
    expect(await openPage().claim()).toEqual([]);
  });

  it('of a page that is only hidden holds what it has', async () => {
    const page = openPage();
    await page.written();
    page.add('a');
    vi.spyOn(page.database, 'run').mockRejectedValue(new Error('frozen'));
    leave(page.outbox, false);
    expect(await openPage().claim()).toEqual([]);
    clock.time += LEASE_MS;
    expect(await openPage().claim()).toEqual(['a']);
  });

  it('is the store where there is no database, for the next page without one', async () => {
    const page = openPage({ isBroken: true });
    page.add('a', 'b');
    await vi.waitUntil(() => page.database.medium() === 'memory');
    leave(page.outbox, true);
    expect(page.held()).toEqual([]);
    expect(await openPage({ isBroken: true }).claim()).toEqual(['a', 'b']);
    expect(await openPage({ isBroken: true }).claim()).toEqual([]);
  });
});
