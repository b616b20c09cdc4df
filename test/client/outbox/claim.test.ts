import { promisifyRequest } from 'idb-keyval';
import { describe, expect, it } from 'vitest';
import { claimParcels, type Scan } from '../../../src/client/outbox/claim.js';
import type { ParcelKey } from '../../../src/client/outbox/parcel.js';
import { clock, openPage, recordOf, shelf } from '../../support/outbox-page.js';

describe('a claim’s transaction', () => {
  const KEY: ParcelKey = [1, 'maker', 1];
  const stored = { v: 3, life: 'dead', flight: [], records: [recordOf('a')], isNoted: false };
  const scan = (): Scan => ({ taken: new Map(), elsewhere: 0, bytes: 0, soonest: Infinity });
  const claimIn = async (values: [IDBValidKey, object][]) => {
    const page = openPage();
    const { database, outbox } = page;
    await database.run((store) => values.forEach(([key, value]) => store.put(value, key)));
    const found = scan();
    const claimed = await database.run((store) => claimParcels(store, outbox, found), true);
    const keys = await database.run((store) => promisifyRequest(store.getAllKeys()));
    return { claimed, found, keys, told: page.told };
  };

  it('leaves what a lease holds, and later parcels of the same page if there is an identify in it', async () => {
    const until = clock.time + 5_000;
    for (const [type, claims] of [
      ['event', 1],
      ['identify', 0],
    ] as const) {
      const { claimed, found } = await claimIn([
        [KEY, { ...stored, records: [recordOf('a', { type })] }],
        [[2, 'maker', 2], { ...stored, life: 'other' }],
        [['lease', 'dead'], { life: 'dead', until }],
      ]);
      expect(claimed.parcels).toHaveLength(claims);
      expect(found).toMatchObject({ elsewhere: 2 - claims, soonest: until });
    }
  });

  it('deletes leases that are over, empty values, and what it cannot read', async () => {
    const { claimed, keys, told } = await claimIn([
      [KEY, { ...stored, records: [] }],
      [[2, 'maker', 2], { v: 99, records: [{}, {}] }],
      [['lease', 'dead'], { life: 'dead', until: clock.time }],
    ]);
    expect(claimed.parcels).toEqual([]);
    expect(told).toEqual(['unreadable']);
    expect(keys).toEqual([]);
  });

  it('keeps an empty value while there is a note, which may still have what ended under its key', async () => {
    const note = { life: 'hidden', until: clock.time + 5_000, list: [] };
    shelf.set('analytics-outbox https://in.example.com shop note hidden', JSON.stringify(note));
    const { keys } = await claimIn([[KEY, { ...stored, records: [], isNoted: true }]]);
    expect(keys).toEqual([KEY]);
  });
});
