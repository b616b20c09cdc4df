import { afterEach, describe, expect, it, vi } from 'vitest';
import { DIRECT, NAME, openSite, sleep, track } from '../support/site.js';

afterEach(() => vi.unstubAllGlobals());

type Site = ReturnType<typeof openSite>;

/** A visit to a site whose service fails, so that the gate is closed for long. Each event is a task of its own. */
const visit = async (site: Site, events: number, options: object) => {
  const reasons = new Set<string>();
  const { analytics } = track({
    ...DIRECT,
    ...options,
    fetch: async () => new Response('', { status: 503, headers: { 'retry-after': '3600' } }),
    onDrop: ({ reason }) => reasons.add(reason),
  });
  for (let i = 0; i < events; i++) {
    analytics.event(`event ${i}`, { text: 'x'.repeat(1_000) });
    await sleep(0);
  }
  // It has looked at all that is stored, and has written all that it has.
  await vi.waitFor(() => expect(analytics.status().elsewhere).toBe(0), 3_000);
  await analytics.flush();
  await vi.waitFor(() => expect(analytics.status().inFlight).toBe(0));
  await sleep(60);
  site.next();
  await sleep(20);
  analytics.stop();
  return reasons;
};

describe('visits while the service fails', () => {
  it('keep no more records than the option allows, in few notes', async () => {
    const site = openSite();
    const reasons = new Set<string>();
    for (let i = 0; i < 6; i++) {
      for (const reason of await visit(site, 12, { maxRecords: 30 })) reasons.add(reason);
    }
    const parcels = (await site.contents(NAME)).flatMap(({ records }) =>
      records ? [records.length] : [],
    );
    expect(parcels.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(30);
    const notes = [...site.values.keys()].filter((key) => key.includes(' note '));
    expect(notes.length).toBeLessThanOrEqual(1);
    expect(reasons).toEqual(new Set(['outbox-full']));
  });

  it('without a database keep 256 KiB in localStorage, the newest, and drop the rest with a reason', async () => {
    const site = openSite();
    vi.stubGlobal('indexedDB', undefined);
    const sizes: number[] = [];
    let reasons = new Set<string>();
    for (let i = 0; i < 5; i++) {
      reasons = await visit(site, 80, {});
      sizes.push([...site.values.values()].reduce((sum, { length }) => sum + length, 0));
    }
    expect(sizes[0]).toBeGreaterThan(80_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(262_144);
    expect(sizes.at(-1)).toBeGreaterThan(200_000);
    expect(reasons).toEqual(new Set(['outbox-full']));
  });
});
