import { expect, it } from 'vitest';
import { describeAdoption } from './contract/adopt.js';
import { describeCounts } from './contract/counts.js';
import { describeErasures } from './contract/erasures.js';
import { describeHours } from './contract/hours.js';
import { describeImport } from './contract/import.js';
import { describeJson } from './contract/json.js';
import { describeLooking } from './contract/looking.js';
import { describeParked } from './contract/parked.js';
import { describeProfiles } from './contract/profiles.js';
import { describeProgress } from './contract/progress.js';
import { describeReaders } from './contract/readers.js';
import { describeRecords } from './contract/records.js';
import { describeRefused } from './contract/refused.js';
import { describeRows } from './contract/rows.js';
import { event, type Part } from './contract/scenario.js';

const PARTS: readonly Part[] = [
  ...[describeRecords, describeJson, describeRefused, describeProfiles, describeRows],
  ...[describeAdoption, describeReaders, describeCounts, describeLooking],
  ...[describeHours, describeImport, describeProgress, describeParked, describeErasures],
];

/** What every store of the service does, whatever it is made of. */
export const describeStore: Part = (name, enter) => {
  for (const describePart of PARTS) describePart(name, enter);

  it(`${name} says whether it can store, and that it is closed`, async () => {
    const store = await enter().open();
    await store.check();
    await store.close();
    await expect(store.check()).rejects.toThrow(/closed|not open|end/);
    await expect(store.write([event()])).rejects.toThrow(/closed|not open|end/);
  });
};
