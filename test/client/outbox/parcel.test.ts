import { describe, expect, it } from 'vitest';
import { LEASE_MS } from '../../../src/client/outbox/lease.js';
import { finish, nameInFlight } from '../../../src/client/outbox/outbox.js';
import { writeChanges } from '../../../src/client/outbox/writer.js';
import type { Options } from '../../../src/client/types.js';
import { clock, openPage, type OutboxPage } from '../../support/outbox-page.js';

/**
 * What a page is doing with a record as it is killed, and what becomes of the record on the next visit: in the direct
 * form, and where the receiver knows repeats. ARCHITECTURE.md has the same rows in words.
 */
interface Kill {
  when: string;
  /** Brings the page to that moment. */
  reach: (page: OutboxPage) => unknown;
  direct: string[];
  withKeys?: string[];
}
const send = (page: OutboxPage) => {
  page.entry('a').isSent = true;
};
const name = async (page: OutboxPage) => {
  if (page.outbox.settings().resends) return;
  await nameInFlight(page.outbox, [page.entry('a')]);
};
const storeIt = (page: OutboxPage) => page.stored();

const KILLS: Kill[] = [
  { when: 'in the task of the call', reach: () => undefined, direct: ['lost'] },
  { when: 'stored and waiting', reach: storeIt, direct: ['sent'] },
  {
    when: 'named, and its request not started',
    reach: async (page) => (await name(page), page.stored()),
    direct: ['unknown'],
    withKeys: ['sent'],
  },
  {
    when: 'in flight and named',
    reach: async (page) => (await name(page), send(page), page.stored()),
    direct: ['unknown'],
    withKeys: ['sent'],
  },
  {
    when: 'in flight and not named',
    reach: async (page) => (await page.stored(), send(page)),
    direct: ['sent'],
  },
  {
    when: 'answered, and its deletion not committed',
    reach: async (page) => {
      await name(page);
      send(page);
      await page.stored();
      finish(page.outbox, page.entry('a'));
    },
    direct: ['unknown'],
    withKeys: ['sent'],
  },
  {
    when: 'answered, and its deletion committed',
    reach: async (page) => {
      await page.stored();
      finish(page.outbox, page.entry('a'));
      await writeChanges(page.outbox);
    },
    direct: ['lost'],
  },
];

const fateOf = async ({ reach }: Kill, options: Partial<Options>): Promise<string[]> => {
  const page = openPage(options);
  await page.written();
  page.add('a');
  await reach(page);
  page.outbox.database = undefined; // it writes nothing any more
  clock.time += LEASE_MS;
  const next = openPage(options);
  const claimed = await next.claim();
  expect(page.told).toEqual([]);
  const fates = [...next.told, ...claimed.map(() => 'sent')];
  return fates.length ? fates : ['lost'];
};

describe.each(KILLS)('a record that is $when as its page is killed', (kill) => {
  it('has one fate', async () => {
    expect(await fateOf(kill, {})).toEqual(kill.direct);
  });

  it('is sent again where the receiver knows repeats', async () => {
    const fate = await fateOf(kill, { idempotencyKey: true } as Partial<Options>);
    expect(fate).toEqual(kill.withKeys ?? kill.direct);
  });
});
