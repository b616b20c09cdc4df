import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { resolveOptions } from '../../../src/client/options.js';
import { WINDOW_PARCELS } from '../../../src/client/outbox/claim.js';
import { createClaims } from '../../../src/client/outbox/claims.js';
import { openDatabase } from '../../../src/client/outbox/database.js';
import { LEASE_MS } from '../../../src/client/outbox/lease.js';
import { entriesOf } from '../../../src/client/outbox/memory.js';
import {
  clear,
  createOutbox,
  finish,
  keep,
  leave,
  nameInFlight,
  useDatabase,
} from '../../../src/client/outbox/outbox.js';
import { PARCEL_RECORDS } from '../../../src/client/outbox/parcel.js';
import { checkLease, isSafe } from '../../../src/client/outbox/store.js';
import type { Options, OutboxRecord } from '../../../src/client/types.js';
import { createLocalStorage } from '../../support/local-storage.js';

const NAME = 'analytics-outbox https://in.example.com shop';
let time = 0;
let shelf: Map<string, string>;

beforeEach(() => {
  time = 1_000_000;
  shelf = new Map();
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('IDBKeyRange', IDBKeyRange);
  vi.stubGlobal('document', { visibilityState: 'visible' });
  vi.stubGlobal('localStorage', createLocalStorage(shelf));
});
afterEach(() => vi.unstubAllGlobals());

let made = 0;
const recordOf = (event: string, more: Partial<OutboxRecord> = {}): OutboxRecord => ({
  id: `id-${++made}`,
  type: 'event',
  body: JSON.stringify({ event }),
  at: time,
  attempts: 0,
  ...more,
});

/** One event more than the parcels of one claim have. */
const MORE_THAN_A_WINDOW = Array.from(
  { length: WINDOW_PARCELS * PARCEL_RECORDS + 1 },
  (_, i) => `e${i}`,
);

/** A page of the site, with the outbox of one destination. */
const openPage = ({
  isBroken = false,
  ...options
}: Partial<Options> & { isBroken?: boolean } = {}) => {
  const told: string[] = [];
  const settings = resolveOptions(
    {
      baseUrl: 'https://in.example.com',
      token: 't',
      project: 'shop',
      channel: 'web',
      ...options,
    } as Options,
    'https://site.example',
    true,
  );
  const outbox = createOutbox({
    name: NAME,
    settings: () => settings,
    now: () => time,
    emit: (_, payload) => told.push((payload as { outcome: string }).outcome),
    drop: (reason) => told.push(reason),
    onRestart: () => claims.restart(),
  });
  const claims = createClaims(outbox);
  if (isBroken) vi.stubGlobal('indexedDB', undefined);
  const database = openDatabase(NAME, () => undefined);
  useDatabase(outbox, database);
  const held = () =>
    [...entriesOf(outbox)].map(
      ({ record }) => (JSON.parse(record.body) as { event: string }).event,
    );
  const stored = () =>
    vi.waitFor(() => {
      for (const { stored, writes } of outbox.parcels) {
        if (stored !== 'yes' || writes) throw new Error('not stored yet');
      }
      if (outbox.dirty.size) throw new Error('not written yet');
    });
  /** Looks as the pump does when it is time. */
  const lookNow = () => {
    checkLease(outbox);
    claims.hurry();
    claims.look();
  };
  const claimAll = async () => {
    lookNow();
    do await claims.claim();
    while (claims.mayClaim());
    return held();
  };
  const add = (...events: string[]) => events.forEach((event) => keep(outbox, recordOf(event)));
  const entry = (event: string) =>
    [...entriesOf(outbox)].find(({ record }) => record.body.includes(`"${event}"`))!;
  return {
    outbox,
    claims,
    database,
    told,
    held,
    stored,
    look: lookNow,
    claim: claimAll,
    add,
    entry,
  };
};

describe('what a page holds', () => {
  it('is nobody else’s while it lives, and anybody’s once its lease is over', async () => {
    const page = openPage();
    page.add('a', 'b');
    await page.stored();
    const other = openPage();
    time += LEASE_MS - 1;
    expect(await other.claim()).toEqual([]);
    expect(other.claims.elsewhere()).toBe(2);
    time += 1;
    expect(await other.claim()).toEqual(['a', 'b']);
    expect(await openPage().claim()).toEqual([]);
  });

  it('is anybody’s when the clock was set back far, which nobody would wait for', async () => {
    time += 3_600_000;
    const page = openPage();
    page.add('a');
    await page.stored();
    const entry = page.entry('a');
    time -= 3_600_000;
    expect(isSafe(page.outbox, entry.parcel)).toBe(false);
    expect(await openPage().claim()).toEqual(['a']);
    expect(await page.claim()).toEqual([]);
  });

  it('is held for longer by a page that looks now and then', async () => {
    const page = openPage();
    page.add('a');
    await page.stored();
    time += LEASE_MS / 2;
    page.look();
    await page.database.run(() => undefined);
    time += LEASE_MS / 2;
    expect(await openPage().claim()).toEqual([]);
  });

  it('is anybody’s at once when the page is left', async () => {
    const page = openPage();
    page.add('a');
    await page.stored();
    leave(page.outbox, true);
    expect(page.held()).toEqual([]);
    await page.database.run(() => undefined);
    expect(await openPage().claim()).toEqual(['a']);
  });

  it('is claimed by the page itself when it comes back', async () => {
    const page = openPage();
    page.add('a');
    await page.stored();
    leave(page.outbox, true);
    expect(await page.claim()).toEqual(['a']);
  });

  it('is another page’s after a standstill in which that has claimed it', async () => {
    const page = openPage();
    page.add('a');
    await page.stored();
    const late = page.entry('a');
    time += LEASE_MS;
    const other = openPage();
    expect(await other.claim()).toEqual(['a']);
    expect(isSafe(page.outbox, late.parcel)).toBe(false);
    expect(await page.claim()).toEqual([]);
    // What the former life of the page says of it changes nothing.
    finish(page.outbox, late);
    page.add('later');
    await page.stored();
    expect(other.held()).toEqual(['a']);
    leave(other.outbox, true);
    await other.database.run(() => undefined);
    expect((await openPage().claim())[0]).toBe('a');
  });

  it('is not claimed while another page holds older records of its page', async () => {
    const page = openPage();
    page.add(...MORE_THAN_A_WINDOW);
    await page.stored();
    time += LEASE_MS;
    const other = openPage();
    await other.claims.claim();
    expect(other.held()).toEqual(MORE_THAN_A_WINDOW.slice(0, -1));
    const third = openPage();
    expect(await third.claim()).toEqual([]);
    time += LEASE_MS;
    expect(await third.claim()).toEqual(MORE_THAN_A_WINDOW);
  });

  it('does not come back once it has ended', async () => {
    const page = openPage();
    page.add('a', 'b');
    await page.stored();
    finish(page.outbox, page.entry('a'));
    await page.stored();
    leave(page.outbox, true);
    await page.database.run(() => undefined);
    expect(await openPage().claim()).toEqual(['b']);
  });
});

describe('a record in flight as its page is killed', () => {
  const kill = async (options: Partial<Options>) => {
    const page = openPage(options);
    page.add('sent', 'waiting');
    if (!page.outbox.settings().resends) await nameInFlight(page.outbox, [page.entry('sent')]);
    page.entry('sent').isSent = true;
    await page.stored();
    time += LEASE_MS;
    const next = openPage(options);
    return { claimed: await next.claim(), told: next.told };
  };

  it('is unknown, and not sent again', async () => {
    expect(await kill({})).toEqual({ claimed: ['waiting'], told: ['unknown'] });
  });

  it('waits again where the receiver knows repeats', async () => {
    expect(await kill({ idempotencyKey: true } as Partial<Options>)).toEqual({
      claimed: ['sent', 'waiting'],
      told: [],
    });
  });
});

describe('a claim that is under way', () => {
  /** A page that claims what another has left, and what it does meanwhile. */
  const meanwhile = async (work: (page: ReturnType<typeof openPage>) => void) => {
    const former = openPage();
    former.add('a', 'b');
    await former.stored();
    leave(former.outbox, true);
    await former.database.run(() => undefined);
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
      await next.database.run(() => undefined);
    }
    return ['a', 'b'];
  };

  it('brings nothing to a page that has dropped all meanwhile', async () => {
    await meanwhile(({ outbox }) => clear(outbox, 'consent-denied'));
  });

  it('leaves all to the next page if the page is left meanwhile', async () => {
    const stop = ({ outbox, database }: ReturnType<typeof openPage>) => {
      leave(outbox, true);
      void database.end();
    };
    expect(await meanwhile(stop)).toEqual(['a', 'b']);
  });
});

describe('an exit note', () => {
  it('carries what the database did not get', async () => {
    const page = openPage();
    await page.database.run(() => undefined);
    page.add('a');
    vi.spyOn(page.database, 'run').mockRejectedValue(new Error('the page is gone'));
    leave(page.outbox, true);
    expect(await openPage().claim()).toEqual(['a']);
    expect([...shelf.keys()].filter((key) => key.includes(' note '))).toEqual([]);
  });

  it('that a killed browser brings back changes nothing', async () => {
    const page = openPage();
    await page.database.run(() => undefined);
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
    await page.database.run(() => undefined);
    page.add('a');
    vi.spyOn(page.database, 'run').mockRejectedValue(new Error('frozen'));
    leave(page.outbox, false);
    expect(await openPage().claim()).toEqual([]);
    time += LEASE_MS;
    expect(await openPage().claim()).toEqual(['a']);
  });

  it('is the store where there is no database, for the next page without one', async () => {
    const page = openPage({ isBroken: true });
    page.add('a', 'b');
    await vi.waitUntil(() => page.database.kind() === 'memory');
    leave(page.outbox, true);
    expect(page.held()).toEqual([]);
    expect(await openPage({ isBroken: true }).claim()).toEqual(['a', 'b']);
    expect(await openPage({ isBroken: true }).claim()).toEqual([]);
  });
});

describe('a full outbox', () => {
  it('drops the oldest events first, and identifies last', () => {
    const page = openPage({ maxRecords: 2 });
    keep(page.outbox, recordOf('i', { type: 'identify', user: 'u' }));
    page.add('a', 'b', 'c');
    expect(page.held()).toEqual(['i', 'c']);
    expect(page.told).toEqual(['outbox-full', 'outbox-full']);
  });

  it('counts bytes, too', () => {
    const { body } = recordOf('a');
    const page = openPage({ maxBytes: 2 * body.length });
    page.add('a', 'b', 'c');
    expect(page.held()).toEqual(['b', 'c']);
  });
});

describe('a claim', () => {
  it('drops what another version has stored', async () => {
    const page = openPage();
    page.add('kept');
    await page.stored();
    await page.database.run((store) => {
      store.put({ v: 99, records: [{}, {}] }, [time, 'other', 1]);
    });
    time += LEASE_MS;
    const next = openPage();
    expect(await next.claim()).toEqual(['kept']);
    expect(next.told).toEqual(['unreadable', 'unreadable']);
  });

  it('reads more than one window, oldest first', async () => {
    const page = openPage();
    page.add(...MORE_THAN_A_WINDOW);
    await page.stored();
    leave(page.outbox, true);
    await page.database.run(() => undefined);
    expect(await openPage().claim()).toEqual(MORE_THAN_A_WINDOW);
  });
});

describe('the order of a user', () => {
  it('lets own records wait until all that is stored is read, which may be more than one window', async () => {
    const page = openPage();
    page.add(...MORE_THAN_A_WINDOW);
    keep(page.outbox, recordOf('older', { type: 'identify', user: 'u' }));
    await page.stored();
    time += LEASE_MS;
    const next = openPage();
    keep(next.outbox, recordOf('newer', { type: 'identify', user: 'u' }));
    await next.claims.claim();
    expect(next.claims.mustWait(next.entry('newer'), false)).toBe(true);
    await next.claim();
    expect(next.held().slice(-2)).toEqual(['older', 'newer']);
    expect(next.claims.mustWait(next.entry('newer'), false)).toBe(false);
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
