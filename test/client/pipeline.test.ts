// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/" }
import { describe, expect, it, vi } from 'vitest';
import { shelf } from '../../src/client/browser/shelf.js';
import { createNotes, type ExitNote } from '../../src/client/outbox/exit-note.js';
import type { Listeners, DirectOptions } from '../../src/client/types.js';
import { advance } from '../support/advance.js';
import { forbidOpening } from '../support/break-storage.js';
import { makeRecord } from '../support/make-record.js';
import { createFakeService, pageEach } from '../support/page-world.js';
import { settle } from '../support/settle.js';
import { readStored } from '../support/stored.js';

const page = pageEach();
const NAME = 'analytics-outbox https://in.test shop';

const start = async (parts: Partial<DirectOptions> = {}, service = createFakeService()) => {
  const { analytics } = await page.load();
  const storage: Listeners['storage'][] = [];
  const sent: boolean[] = [];
  analytics.on('storage', (change) => storage.push(change));
  analytics.on('sent', ({ handoff }) => sent.push(handoff));
  analytics.init(page.options({ fetch: service.fetch, ...parts }));
  await settle();
  return { analytics, service, storage, sent };
};

const storedName = async () => {
  const [database] = await indexedDB.databases();
  return database?.name ?? NAME;
};

describe('a page that is left', () => {
  it('hands off what waits before the handler returns', async () => {
    const { analytics, service, sent } = await start();
    service.rule = () => 'hang';
    analytics.event('a');
    analytics.event('b');
    window.dispatchEvent(new Event('pagehide'));
    expect(service.seen).toEqual([]); // Firefox loses requests started here
    page.hide();
    expect(service.events()).toEqual(['a', 'b']);
    expect(service.seen.every(({ keepalive }) => keepalive)).toBe(true);
    expect(sent).toEqual([true, true]);
  });

  it('sends nothing twice though every handler runs again', async () => {
    const { analytics, service } = await start();
    service.rule = () => 'hang';
    analytics.event('a');
    page.leave();
    page.leave();
    page.hide();
    await settle();
    expect(service.events()).toEqual(['a']);
  });

  it('counts as unknown, on the next page, what had no answer; and does not repeat it', async () => {
    const service = createFakeService();
    service.rule = () => 'hang';
    const { analytics } = await start({}, service);
    analytics.event('a');
    await settle();
    page.leave();
    await settle();
    page.kill();
    service.rule = () => 200;
    const next = await start({}, service);
    await advance(2_000);
    expect(service.events()).toEqual(['a']);
    expect(next.analytics.status()).toMatchObject({ unknown: 1, waiting: 0 });
  });

  it('has it repeated with its key where the service removes repeats', async () => {
    const service = createFakeService();
    service.rule = () => 'hang';
    const { analytics } = await start({ idempotencyKey: true }, service);
    analytics.event('a');
    await settle();
    page.leave();
    await settle();
    page.kill();
    service.rule = () => 200;
    const next = await start({ idempotencyKey: true }, service);
    await advance(2_000);
    const keys = service.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
    expect(next.analytics.status()).toMatchObject({ unknown: 0, delivered: 1 });
  });

  it('leaves to the next page what does not fit', async () => {
    const service = createFakeService();
    service.rule = () => 'hang';
    const { analytics } = await start({}, service);
    for (let i = 0; i < 4; i++) analytics.event(`e${i}`, { description: 'x'.repeat(20_000) });
    await settle();
    page.leave();
    await settle();
    page.kill();
    expect(service.events()).toEqual(['e0', 'e1']);
    service.rule = () => 200;
    const next = await start({}, service);
    await advance(2_000);
    expect(service.events()).toEqual(['e0', 'e1', 'e2', 'e3']);
    expect(next.analytics.status()).toMatchObject({ unknown: 2, delivered: 2 });
  });

  it('hands nothing off offline: it waits for the next page', async () => {
    const service = createFakeService();
    const isOnline = vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    const { analytics } = await start({}, service);
    analytics.event('a');
    await settle();
    page.leave();
    await settle();
    expect(service.seen).toEqual([]);
    page.kill();
    isOnline.mockReturnValue(true);
    await start({}, service);
    await advance(2_000);
    expect(service.events()).toEqual(['a']);
  });

  it('delivers once what was called in the task of leaving', async () => {
    const service = createFakeService();
    const { analytics } = await start({}, service);
    analytics.event('last');
    page.leave();
    await settle();
    page.kill();
    await start({}, service);
    await advance(2_000);
    expect(service.events()).toEqual(['last']);
  });

  it('delivers once what was called after it was hidden', async () => {
    const service = createFakeService();
    const { analytics } = await start({}, service);
    page.hide();
    analytics.event('hidden');
    await Promise.resolve();
    await Promise.resolve();
    expect(service.events()).toEqual(['hidden']);
    await advance(5_000);
    expect(service.events()).toEqual(['hidden']);
    expect(analytics.status()).toMatchObject({ delivered: 1, waiting: 0, unknown: 0 });
  });

  it('and comes back goes on: each once', async () => {
    const { analytics, service } = await start();
    analytics.event('a');
    page.leave();
    await settle();
    page.comeBack();
    analytics.event('b');
    await advance(5_000);
    expect(service.events().sort()).toEqual(['a', 'b']);
    expect(analytics.status()).toMatchObject({ delivered: 2, waiting: 0, unknown: 0, inFlight: 0 });
  });

  it('and comes back while a request is under way counts what waits rightly', async () => {
    const { analytics, service } = await start();
    service.rule = () => 'hang';
    analytics.event('a');
    page.leave();
    await settle();
    page.comeBack();
    analytics.event('b', { userId: 'u' });
    expect(analytics.status()).toMatchObject({ waiting: 1, inFlight: 1 });
  });

  it('leaves no note and no row when all was delivered', async () => {
    const { analytics } = await start();
    analytics.event('a');
    await advance(3_000);
    page.leave();
    await settle();
    expect(Object.keys(localStorage)).toEqual([]);
    expect((await readStored(await storedName())).keys).toEqual([]);
  });
});

describe('a page without storage', () => {
  it('delivers all the same, says so once, and logs nothing', async () => {
    forbidOpening();
    const { analytics, service, storage } = await start();
    for (let i = 0; i < 30; i++) analytics.event(`e${i}`);
    await advance(20_000);
    expect(service.seen).toHaveLength(30);
    expect(storage.map((change) => change.storage)).toEqual(['memory']);
    expect(analytics.status().storage).toBe('memory');
    expect(page.linesLogged()).toBe(0);
  });

  it('delivers without localStorage, too', async () => {
    forbidOpening();
    vi.stubGlobal('localStorage', undefined);
    const { analytics, service } = await start();
    analytics.event('a');
    page.hide();
    page.show();
    analytics.event('b');
    await advance(5_000);
    expect(service.events()).toEqual(['a', 'b']);
  });

  it('loses nothing while consent is put off for a while', async () => {
    forbidOpening();
    vi.stubGlobal('localStorage', undefined);
    const { analytics, service } = await start({ flushInterval: 60_000 });
    analytics.event('a');
    analytics.setConsent('pending');
    analytics.event('b');
    analytics.setConsent('granted');
    await advance(70_000);
    expect(service.events().sort()).toEqual(['a', 'b']);
  });

  it('goes on after it came back with a request that failed on the way out', async () => {
    forbidOpening();
    vi.stubGlobal('localStorage', undefined);
    const { analytics, service } = await start();
    service.rule = () => 'fail';
    analytics.event('a');
    page.leave();
    await settle();
    page.comeBack();
    service.rule = () => 200;
    await advance(120_000);
    const { waiting, inFlight, delivered, unknown } = analytics.status();
    expect(waiting + inFlight).toBe(0);
    expect(delivered + unknown).toBe(1);
  });
});

describe('consent', () => {
  const open = () => vi.spyOn(indexedDB, 'open');

  it('pending opens no storage and sends nothing, and keeps the calls', async () => {
    const opened = open();
    const { analytics, service } = await start({ consent: 'pending' });
    analytics.identify('u');
    analytics.event('a');
    page.hide();
    page.show();
    await advance(120_000);
    expect(opened).not.toHaveBeenCalled();
    expect(localStorage).toHaveLength(0);
    expect(service.seen).toEqual([]);
    expect(analytics.status()).toMatchObject({ storage: 'none', waiting: 2, paused: 'consent' });
    analytics.setConsent('granted');
    await advance(2_000);
    expect(service.events()).toEqual(['u', 'a']);
    expect(service.seen[1]?.body).toMatchObject({
      user_id: 'u',
      timestamp: '2026-01-01T00:00:00.000Z',
    });
  });

  it('pending writes nothing down as the page is hidden or left', async () => {
    const { analytics } = await start({ consent: 'pending' });
    analytics.event('a');
    page.hide();
    page.leave();
    await settle();
    expect(Object.keys(localStorage)).toEqual([]);
    expect(analytics.status().waiting).toBe(1);
  });

  it('pending keeps no more than maxRecords and maxBytes, oldest events first', async () => {
    const { analytics } = await start({ consent: 'pending', maxRecords: 3, maxBytes: 1_000 });
    const drops: (string | undefined)[] = [];
    analytics.on('drop', ({ reason, record }) => {
      expect(reason).toBe('outbox-full');
      const { event, user_id } = JSON.parse(record!.body) as { event?: string; user_id?: string };
      drops.push(event ?? user_id);
    });
    analytics.identify('who');
    analytics.event('a');
    analytics.event('b');
    expect(drops).toEqual([]);
    analytics.event('c');
    expect(drops).toEqual(['a']);
    analytics.event('long', { description: 'é'.repeat(400) });
    expect(drops).toEqual(['a', 'b', 'c']);
    expect(analytics.status()).toMatchObject({ waiting: 2, dropped: { 'outbox-full': 3 } });
  });

  it.each(['pending', 'denied'] as const)(
    '%s before init holds from the start',
    async (consent) => {
      const opened = open();
      const token = vi.fn(async () => 'tok');
      const service = createFakeService();
      const { analytics } = await page.load();
      analytics.event('a');
      analytics.setConsent(consent);
      analytics.init(page.options({ fetch: service.fetch, token }));
      await advance(120_000);
      expect(service.seen).toEqual([]);
      expect(token).not.toHaveBeenCalled();
      if (consent === 'pending') expect(opened).not.toHaveBeenCalled();
    },
  );

  it('denied forgets what waits, here and stored, and counts it', async () => {
    const { analytics, service } = await start({ flushInterval: 60_000 });
    analytics.identify('u');
    analytics.event('a');
    await settle();
    analytics.setConsent('denied');
    analytics.event('b');
    await advance(120_000);
    expect(service.seen).toEqual([]);
    expect(analytics.status()).toMatchObject({
      waiting: 0,
      dropped: { 'consent-denied': 3 },
      userId: undefined,
    });
    expect((await readStored(await storedName())).keys).toEqual(['consent']);
    expect(JSON.stringify({ ...localStorage })).not.toContain('"u"');
  });

  it('denied has nothing waiting, here or elsewhere, of what was let go before', async () => {
    const service = createFakeService();
    service.rule = () => 503;
    const { analytics } = await start({}, service);
    analytics.event('a');
    await advance(90_000);
    expect(analytics.status().waiting).toBe(1);
    analytics.setConsent('denied');
    await settle();
    expect(analytics.status()).toMatchObject({ waiting: 0, elsewhere: undefined });
  });

  it('denied tells of no storage while what is stored is deleted', async () => {
    const { analytics, storage } = await start();
    const before = storage.map((change) => change.storage);
    expect(before).toEqual(['indexeddb']);
    analytics.setConsent('denied');
    await advance(10_000);
    expect(storage.map((change) => change.storage)).toEqual(before);
    expect(analytics.status().storage).toBe('none');
  });

  it('denied while storage fails, and granted again, sends nothing of what was stored before', async () => {
    const { analytics, service } = await start({ flushInterval: 600_000 });
    analytics.event('stored');
    await settle();
    const allow = forbidOpening();
    analytics.setConsent('denied');
    await advance(10_000);
    allow();
    analytics.setConsent('granted');
    await advance(200_000);
    expect(service.events()).toEqual([]);
    expect((await readStored(await storedName())).keys).toEqual([]);
  });

  it('denied is remembered on the next page, that asks for no token', async () => {
    const first = await start();
    first.analytics.setConsent('denied');
    await settle();
    page.kill();
    const token = vi.fn(async () => 'tok');
    const next = await start({ token });
    next.analytics.event('a');
    await advance(120_000);
    expect(next.analytics.status().consent).toBe('denied');
    expect(next.service.seen).toEqual([]);
    expect(token).not.toHaveBeenCalled();
  });

  it('denied again after the site was cleared is remembered again', async () => {
    const { analytics } = await start();
    analytics.setConsent('denied');
    await settle();
    localStorage.clear();
    analytics.setConsent('denied');
    page.kill();
    expect((await start()).analytics.status().consent).toBe('denied');
  });

  it('denied gives up what is in flight', async () => {
    const { analytics, service } = await start();
    service.rule = () => 'hang';
    analytics.event('a');
    await advance(1_100);
    expect(service.seen).toHaveLength(1);
    analytics.setConsent('denied');
    service.rule = () => 200;
    await advance(60_000);
    expect(service.seen).toHaveLength(1);
    expect((await readStored(await storedName())).keys).toEqual(['consent']);
  });

  it('denied and granted again sends what is called from then on', async () => {
    const { analytics, service } = await start();
    analytics.setConsent('denied');
    analytics.event('a');
    analytics.setConsent('granted');
    analytics.event('b');
    await advance(2_000);
    expect(service.events()).toEqual(['b']);
  });

  it('put off and given again loses nothing and repeats nothing', async () => {
    const { analytics, service } = await start({ flushInterval: 10_000 });
    analytics.event('a');
    await settle();
    analytics.setConsent('pending');
    analytics.event('b');
    await advance(20_000);
    expect(service.seen).toEqual([]);
    analytics.setConsent('granted');
    await advance(20_000);
    expect(service.events().sort()).toEqual(['a', 'b']);
  });

  it('of an unknown kind changes nothing', async () => {
    const { analytics, service } = await start();
    (analytics.setConsent as (consent: unknown) => void)('yes');
    (analytics.setConsent as (consent: unknown) => void)(undefined);
    analytics.event('a');
    await advance(2_000);
    expect(service.events()).toEqual(['a']);
    expect(analytics.status().consent).toBe('granted');
  });

  it('given by init again counts', async () => {
    const service = createFakeService();
    const { analytics } = await start({ consent: 'pending' }, service);
    analytics.event('a');
    analytics.init(page.options({ fetch: service.fetch, consent: 'granted' }));
    await advance(2_000);
    expect(service.events()).toEqual(['a']);
  });

  it('denied on another way to the service counts here, until it is granted', async () => {
    const elsewhere = 'analytics-outbox relay:https://site.test/a shop consent';
    localStorage.setItem(elsewhere, 'denied');
    const { analytics, service } = await start();
    analytics.event('a');
    await advance(2_000);
    expect(analytics.status()).toMatchObject({
      consent: 'denied',
      dropped: { 'consent-denied': 1 },
    });
    expect(service.seen).toEqual([]);
    analytics.setConsent('granted');
    analytics.event('b');
    await advance(2_000);
    expect(service.events()).toEqual(['b']);
    expect(localStorage.getItem(elsewhere)).toBeNull();
  });

  it('denied for another project does not count', async () => {
    localStorage.setItem('analytics-outbox https://in.test workshop consent', 'denied');
    const { analytics } = await start();
    expect(analytics.status().consent).toBe('granted');
  });

  it('denied in another tab counts here', async () => {
    const { analytics, service } = await start({ flushInterval: 10_000 });
    analytics.event('a');
    localStorage.setItem(
      Object.keys(localStorage).find((key) => key.endsWith(' consent')) ?? `${NAME} consent`,
      'denied',
    );
    window.dispatchEvent(new StorageEvent('storage', { key: `${NAME} consent` }));
    await advance(20_000);
    expect(service.seen).toEqual([]);
    expect(analytics.status().consent).toBe('denied');
  });
});

describe('a denial from elsewhere', () => {
  const deny = () => localStorage.setItem(`${NAME} consent`, 'denied');

  it.each([
    ['comes back', () => page.comeBack()],
    ['is resumed', () => document.dispatchEvent(new Event('resume'))],
  ])('counts when a page that nobody could tell %s', async (_, goOn) => {
    const { analytics, service } = await start({ flushInterval: 10_000 });
    analytics.event('a');
    page.leave();
    const before = service.seen.length;
    deny();
    goOn();
    analytics.event('b');
    await advance(60_000);
    expect(analytics.status()).toMatchObject({ consent: 'denied', waiting: 0 });
    expect(service.seen).toHaveLength(before);
  });

  it('does not end a wait for consent that the page asks for', async () => {
    deny();
    const { analytics } = await start({ consent: 'pending' });
    analytics.event('a');
    page.leave();
    page.comeBack();
    expect(analytics.status()).toMatchObject({ consent: 'pending', waiting: 1 });
  });

  it('is found in the database where localStorage could not take it', async () => {
    const first = await start();
    first.analytics.setConsent('denied');
    await settle();
    page.kill();
    localStorage.clear();
    const next = await start({ flushAt: 1 });
    next.analytics.event('a');
    const flushed = next.analytics.flush();
    await advance(60_000);
    expect(await flushed).toMatchObject({ delivered: 0, waiting: 0 });
    expect(next.service.seen).toEqual([]);
    expect(next.analytics.status()).toMatchObject({
      consent: 'denied',
      dropped: { 'consent-denied': 1 },
    });
    expect((await readStored(await storedName())).keys).toEqual(['consent']);
    // Given again, it counts on the next page too.
    next.analytics.setConsent('granted');
    await settle();
    page.kill();
    const last = await start();
    last.analytics.event('b');
    await advance(2_000);
    expect(last.service.events()).toEqual(['b']);
  });
});

describe('a prerendered page', () => {
  it('holds its records until it is shown', async () => {
    Object.defineProperty(document, 'prerendering', { value: true, configurable: true });
    const opened = vi.spyOn(indexedDB, 'open');
    try {
      const { analytics, service } = await start();
      analytics.event('a');
      await advance(60_000);
      expect(opened).not.toHaveBeenCalled();
      expect(service.seen).toEqual([]);
      Object.defineProperty(document, 'prerendering', { value: false, configurable: true });
      document.dispatchEvent(new Event('prerenderingchange'));
      await advance(2_000);
      expect(service.events()).toEqual(['a']);
    } finally {
      delete (document as { prerendering?: boolean }).prerendering;
    }
  });
});

describe('what a page left', () => {
  it('when it was killed is delivered by the next page', async () => {
    const service = createFakeService();
    const { analytics } = await start({ flushInterval: 60_000 }, service);
    for (let i = 0; i < 10; i++) analytics.event(`e${i}`);
    await settle();
    page.kill();
    await start({}, service);
    await advance(130_000);
    expect(service.events()).toEqual(Array.from({ length: 10 }, (_, i) => `e${i}`));
  });

  it('is delivered within seconds, though it was written after this one had looked', async () => {
    const { service } = await start();
    const note: ExitNote = {
      v: 2,
      holder: 'left',
      until: 0,
      parcels: [
        { key: [Date.now(), 'left', 1], flight: [], done: [], records: [makeRecord('late')] },
      ],
    };
    createNotes(shelf, NAME).save(note);
    await advance(4_000);
    expect(service.seen).toEqual([]);
    await advance(2_000);
    expect(service.seen).toHaveLength(1);
  });

  it('is not delivered to another destination', async () => {
    const service = createFakeService();
    const { analytics } = await start({ flushInterval: 60_000 }, service);
    analytics.event('a');
    await settle();
    page.kill();
    await start({ project: 'blog' }, service);
    await advance(130_000);
    expect(service.seen).toEqual([]);
  });

  it('under a penalty is held back by the next page, too', async () => {
    const service = createFakeService();
    service.rule = () => 503;
    const { analytics } = await start({}, service);
    for (let i = 0; i < 6; i++) {
      analytics.event(`e${i}`);
      await advance(30_000);
    }
    const tries = service.seen.length;
    page.leave();
    await settle();
    page.kill();
    const next = await start({}, service);
    expect(next.analytics.status().paused).toBe('backoff');
    expect(next.analytics.status().nextAttempt).toBeGreaterThan(Date.now());
    expect(service.seen.length).toBe(tries);
  });
});

describe('flush()', () => {
  it('tells what it came to', async () => {
    const { analytics, service } = await start();
    service.rule = ({ body }) => (body.event === 'bad' ? 400 : 200);
    analytics.event('a');
    analytics.event('bad');
    const flushed = analytics.flush();
    await settle();
    expect(await flushed).toEqual({ delivered: 1, retried: 0, rejected: 1, waiting: 0 });
  });

  it.each(['pending', 'denied'] as const)('settles while consent is %s', async (consent) => {
    const { analytics } = await start({ consent });
    analytics.event('a');
    expect(await analytics.flush()).toMatchObject({ waiting: consent === 'pending' ? 1 : 0 });
  });

  it('settles when consent is withdrawn meanwhile', async () => {
    const { analytics, service } = await start();
    service.rule = () => 'hang';
    analytics.event('a');
    const flushed = analytics.flush();
    await settle();
    analytics.setConsent('denied');
    await settle();
    expect(await flushed).toMatchObject({ delivered: 0 });
  });
});
