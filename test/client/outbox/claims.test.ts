import { describe, expect, it, vi } from 'vitest';
import { LEASE_MS } from '../../../src/client/outbox/lease.js';
import { WINDOW_PARCELS, type Claimed } from '../../../src/client/outbox/claim.js';
import { readNotes, writeNote } from '../../../src/client/outbox/note.js';
import { clear, finish, keep, leave } from '../../../src/client/outbox/outbox.js';
import { PARCEL_RECORDS, type ParcelKey } from '../../../src/client/outbox/parcel.js';
import { clock, openPage, recordOf, type OutboxPage } from '../../support/outbox-page.js';
import { names } from '../../support/shop.js';
import { NAME } from '../../support/site.js';

const WINDOW = WINDOW_PARCELS * PARCEL_RECORDS;
const MORE_THAN_A_WINDOW = names(WINDOW + 1);

describe('what a page holds', () => {
  it('is claimed by the page itself when it comes back', async () => {
    const page = openPage();
    page.add('a');
    await page.stored();
    leave(page.outbox, true);
    expect(await page.claim()).toEqual(['a']);
  });

  it('is not claimed while another page holds an older identify of its page', async () => {
    const page = openPage();
    keep(page.outbox, recordOf('who', { type: 'identify', user: 'u' }));
    page.add(...MORE_THAN_A_WINDOW);
    const all = page.held();
    await page.stored();
    clock.time += LEASE_MS;
    const other = openPage();
    await other.claims.claim();
    expect(other.held()).toEqual(all.slice(0, WINDOW));
    const third = openPage();
    expect(await third.claim()).toEqual([]);
    clock.time += LEASE_MS;
    expect(await third.claim()).toEqual(all);
  });
});

describe('a claim that is under way', () => {
  /** A page that claims what another has left, and what it does meanwhile. */
  const meanwhile = async (work: (page: OutboxPage) => void) => {
    const former = openPage();
    former.add('a', 'b');
    await former.stored();
    leave(former.outbox, true);
    await former.written();
    for (let steps = 0; steps < 10; steps++) {
      const page = openPage();
      page.look();
      const claiming = page.claims.claim();
      for (let i = 0; i < steps; i++) await new Promise(setImmediate);
      work(page);
      await claiming;
      expect(page.held()).toEqual([]);
      const next = openPage();
      const claimed = await next.claim();
      if (!claimed.length) return claimed;
      expect(claimed).toEqual(['a', 'b']);
      leave(next.outbox, true);
      await next.written();
    }
    return ['a', 'b'];
  };

  it('brings nothing to a page that has dropped all meanwhile', async () => {
    await meanwhile(({ outbox }) => clear(outbox, 'consent-denied'));
  });

  it('leaves all to the next page if the page is left meanwhile', async () => {
    const stop = ({ outbox, database }: OutboxPage) => {
      leave(outbox, true);
      void database.end();
    };
    expect(await meanwhile(stop)).toEqual(['a', 'b']);
  });

  it('is begun anew by a page that is left meanwhile and comes back, at whatever moment', async () => {
    for (let steps = 0; steps < 10; steps++) {
      const former = openPage();
      former.add('a', 'b');
      await former.stored();
      leave(former.outbox, true);
      await former.written();
      const page = openPage();
      page.look();
      const claiming = page.claims.claim();
      for (let i = 0; i < steps; i++) await new Promise(setImmediate);
      leave(page.outbox, true);
      await claiming;
      expect(await page.claim()).toEqual(['a', 'b']);
    }
  });
});

describe('a claim during which the last record of its page ends', () => {
  it('keeps the lease of what it brings, at whatever moment', async () => {
    for (let steps = 0; steps < 10; steps++) {
      const page = openPage();
      page.add('last');
      await page.stored();
      const former = openPage();
      former.add('left');
      await former.stored();
      leave(former.outbox, true);
      await former.written();
      page.look();
      const claiming = page.claims.claim();
      for (let i = 0; i < steps; i++) await new Promise(setImmediate);
      finish(page.outbox, page.entry('last'));
      leave(page.outbox, false); // it is written beside what is under way
      await claiming;
      await page.written();
      expect(page.held()).toEqual(['left']);
      expect(await openPage().claim()).toEqual([]);
      finish(page.outbox, page.entry('left'));
      await page.stored();
    }
  });
});

describe('a claim', () => {
  it('drops what another version has stored', async () => {
    const page = openPage();
    page.add('kept');
    await page.stored();
    await page.database.run((store) => {
      store.put({ v: 99, records: [{}, {}] }, [clock.time, 'other', 1]);
    });
    clock.time += LEASE_MS;
    const next = openPage();
    expect(await next.claim()).toEqual(['kept']);
    expect(next.told).toEqual(['unreadable']);
  });

  it('reads more than one window, oldest first', async () => {
    const page = openPage();
    page.add(...MORE_THAN_A_WINDOW);
    await page.stored();
    leave(page.outbox, true);
    await page.written();
    expect(await openPage().claim()).toEqual(MORE_THAN_A_WINDOW);
  });
});

describe('a takeover', () => {
  it('looks at what the page holds once a claim, and not once for each parcel', async () => {
    let reads = 0;
    const get = (key: ParcelKey, index: string | symbol) => {
      reads++;
      return Reflect.get(key, index) as unknown;
    };
    const page = openPage();
    page.add('own');
    await page.stored();
    await page.leaveBehind(1_000);
    const run = page.database.run;
    vi.spyOn(page.database, 'run').mockImplementation(async (work, isRead) => {
      const result = await run(work, isRead);
      const { parcels = [] } = (result ?? {}) as Partial<Claimed>;
      for (const claimed of parcels) claimed.key = new Proxy(claimed.key, { get });
      return result;
    });
    expect(await page.claim()).toHaveLength(1_001);
    expect(page.held().at(-1)).toBe('own');
    expect(reads).toBeLessThan(50 * 1_000 * 5); // 50 claims, each of up to 1,000 keys
  });
});

describe('while the gate is closed, a claim', () => {
  it('takes nothing over, and counts what it leaves', async () => {
    const page = openPage();
    await page.leaveBehind(MORE_THAN_A_WINDOW.length);
    const before = await page.contents();
    expect(await page.claim(true)).toEqual([]);
    expect(page.claims.elsewhere()).toBe(MORE_THAN_A_WINDOW.length);
    expect(await page.contents()).toEqual(before);
  });

  it('puts the notes of dead pages into the database', async () => {
    const former = openPage();
    await former.written();
    former.add('noted');
    writeNote(former.outbox, [...former.outbox.parcels], 0);
    const page = openPage();
    expect(await page.claim(true)).toEqual([]);
    expect(page.claims.elsewhere()).toBe(1);
    expect(readNotes(NAME)).toEqual([]);
    expect(await page.claim()).toEqual(['noted']);
  });

  it('drops the oldest events of the parcels that are too many, and keeps their identifies', async () => {
    const page = openPage({ maxRecords: 30 });
    const who = recordOf('who', { type: 'identify', user: 'u' });
    await page.leaveBehind(40, (i) => (i === 3 ? who : recordOf(`left ${i}`)));
    expect((await page.claim(true)).slice(0, 2)).toEqual(['who', 'left 12']);
    expect(page.told).toEqual(Array(10).fill('outbox-full'));
    await page.stored();
    await page.claim(true);
    expect(page.told).toHaveLength(10);
    leave(page.outbox, true);
    await page.written();
    const left = await openPage().claim();
    expect(left).toHaveLength(30);
    expect(left.slice(0, 2)).toEqual(['who', 'left 12']);
  });

  it('leaves older records, for which the page’s own of a known user wait when the gate is open again', async () => {
    const page = openPage();
    await page.claim();
    await page.leaveBehind(1, () => recordOf('older', { type: 'identify', user: 'u' }));
    keep(page.outbox, recordOf('newer', { type: 'identify', user: 'u' }));
    const isWaiting = () => page.claims.mustWait(page.entry('newer'), false);
    expect(isWaiting()).toBe(false);
    await page.claim(true);
    expect(isWaiting()).toBe(true);
    await page.claims.claim(); // without a look: the gate has opened
    expect(page.held()).toEqual(['older', 'newer']);
    expect(isWaiting()).toBe(false);
  });
});

describe('the order of a user', () => {
  it('lets own records wait until all that is stored is read, which may be more than one window', async () => {
    const page = openPage();
    page.add(...MORE_THAN_A_WINDOW);
    keep(page.outbox, recordOf('older', { type: 'identify', user: 'u' }));
    await page.stored();
    clock.time += LEASE_MS;
    const next = openPage();
    keep(next.outbox, recordOf('newer', { type: 'identify', user: 'u' }));
    await next.claims.claim();
    expect(next.claims.mustWait(next.entry('newer'), false)).toBe(true);
    await next.claim();
    expect(next.held().slice(-2)).toEqual(['older', 'newer']);
    expect(next.claims.mustWait(next.entry('newer'), false)).toBe(false);
  });

  it('lets only what is later than an identify wait for the page that holds it, and never both for each other', async () => {
    const page = openPage();
    keep(page.outbox, recordOf('older', { type: 'identify', user: 'u' }));
    await page.stored();
    clock.time += LEASE_MS; // it was asleep, and does not know yet
    const other = openPage();
    expect(await other.claim()).toEqual(['older']);
    keep(page.outbox, recordOf('newer', { type: 'identify', user: 'u' }));
    await page.stored();
    await page.claim();
    other.look();
    await other.claim();
    expect(page.claims.mustWait(page.entry('newer'), false)).toBe(true);
    expect(other.claims.mustWait(other.entry('older'), false)).toBe(false);
  });

  it('lets own records wait until older ones are read, but not those of nobody', async () => {
    const page = openPage();
    keep(page.outbox, recordOf('mine', { user: 'u' }));
    page.add('nobody’s');
    expect(page.claims.mustWait(page.entry('mine'), false)).toBe(true);
    expect(page.claims.mustWait(page.entry('nobody’s'), false)).toBe(false);
    await page.claim();
    expect(page.claims.mustWait(page.entry('mine'), false)).toBe(false);
  });
});
