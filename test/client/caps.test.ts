import { describe, expect, it, vi } from 'vitest';
import { pass } from '../support/clock.js';
import { names, openShop } from '../support/shop.js';
import { NAME } from '../support/site.js';

/** A shop whose service fails, so that the gate is closed for long. */
const open = () => {
  const shop = openShop();
  shop.service.faults([{ status: 503, headers: { 'retry-after': '3600' } }]);
  const reasons = new Set<string>();
  const dropped: string[] = [];
  /** A visit in which each event is a task of its own, unless all are one. */
  const visit = async (events: number, options: object = {}, isOneTask = false) => {
    const { analytics, heard } = shop.visit(options);
    for (let i = 0; i < events; i++) {
      analytics.event(`event ${i}`, { text: 'x'.repeat(1_000) });
      if (!isOneTask) await undefined;
    }
    await pass(5_000); // it has looked at all that is stored, and has written all that it has
    await shop.leave();
    for (const { reason, record } of heard.drop) {
      reasons.add(reason);
      dropped.push((JSON.parse(record!.body) as { event: string }).event);
    }
  };
  return { ...shop, reasons, dropped, visit };
};

describe('visits while the service fails', () => {
  it.each([
    ['records', { maxRecords: 30 }, false],
    ['records, which one task may make', { maxRecords: 30 }, true],
    ['bytes', { maxBytes: 30 * 1_200 }, true],
  ])(
    'keep no more than the options allow: %s',
    async (_, options: { maxRecords?: number; maxBytes?: number }, isOneTask) => {
      const { site, visit, reasons } = open();
      for (let i = 0; i < 6; i++) await visit(24, options, isOneTask);
      const records = (await site.contents(NAME)).flatMap((value) => value.records ?? []);
      expect(records.length).toBeGreaterThanOrEqual(28);
      expect(records.length).toBeLessThanOrEqual(options.maxRecords ?? Infinity);
      const bytes = records.reduce((sum, { body }) => sum + body.length, 0);
      expect(bytes).toBeLessThanOrEqual(options.maxBytes ?? Infinity);
      const notes = [...site.values.keys()].filter((key) => key.includes(' note '));
      expect(notes.length).toBeLessThanOrEqual(1);
      expect(reasons).toEqual(new Set(['outbox-full']));
    },
  );

  it('without a database keep 256 KiB in localStorage, the newest, and drop the rest with a reason', async () => {
    const { site, visit, reasons } = open();
    vi.stubGlobal('indexedDB', undefined);
    const sizes: number[] = [];
    for (let i = 0; i < 5; i++) {
      await visit(80);
      sizes.push([...site.values.values()].reduce((sum, { length }) => sum + length, 0));
    }
    expect(sizes[0]).toBeGreaterThan(80_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(262_144);
    expect(sizes.at(-1)).toBeGreaterThan(200_000);
    expect(reasons).toEqual(new Set(['outbox-full']));
  });

  it('without a database leave the newest that fit beside the site in localStorage, and drop the others', async () => {
    const { site, service, visit, dropped, holds } = open();
    vi.stubGlobal('indexedDB', undefined);
    const events = names(100);
    site.fill(65_536);
    await visit(events.length);
    expect(dropped.length).toBeLessThan(60);
    expect(dropped.toSorted()).toEqual(events.slice(0, dropped.length).sort());
    service.faults([]);
    await pass(4_000_000);
    await visit(0);
    await holds(events.slice(dropped.length));
  });
});
