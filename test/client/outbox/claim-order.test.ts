import { describe, expect, it, vi } from 'vitest';
import { HOLD_MS } from '../../../src/client/outbox/context.js';
import { WINDOW } from '../../../src/client/outbox/stored.js';
import { advance } from '../../support/advance.js';
import type { OutboxRecord } from '../../../src/client/types.js';
import { makeIdentify, makeRecord } from '../../support/make-record.js';
import { pagesIn } from '../../support/pages-in.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';

const world = storageEach();
const { pageOf } = pagesIn(world);

const of = (user: string, ...ids: string[]) => ids.map((id) => makeRecord(id, { user }));
const identifyOf = (user: string, id: string) => [makeIdentify(id, user)];

describe("a dead page's records, of which another page holds the older ones", () => {
  /** The older ones are claimed as their time is over, the others half a minute later. */
  const claimOlder = async (older: ReturnType<typeof of>, ...newer: ReturnType<typeof of>[]) => {
    const dead = pageOf();
    dead.add(...older);
    await advance(HOLD_MS / 2);
    for (const records of newer) {
      dead.add(...records);
      await settle();
    }
    dead.kill();
    await advance(HOLD_MS / 2);
    const first = pageOf();
    await first.refill();
    expect(first.waiting()).toEqual(older.map(({ id }) => id));
    await advance(HOLD_MS / 2);
    return first;
  };

  it('are left to that page, which sends them in the order of their calls', async () => {
    const first = await claimOlder(identifyOf('u', 'a'), of('u', 'b'));
    expect(await pageOf().drain()).toEqual([]);
    first.outbox.seek();
    expect(await first.drain()).toEqual(['a', 'b']);
  });

  it('wait, once claimed, for older ones that were let go since', async () => {
    const dead = pageOf();
    dead.add(...of('u', 'a'));
    await advance(1_000);
    dead.add(...of('u', 'b'));
    await settle();
    dead.kill();
    await advance(HOLD_MS);
    const page = pageOf();
    await page.refill();
    expect(page.waiting()).toEqual(['a', 'b']);
    await advance(HOLD_MS / 2);
    await page.outbox.prepare([page.find('b')]);
    await advance(HOLD_MS / 2);
    page.outbox.tidy();
    expect(page.waiting()).toEqual(['b']);
    expect(page.outbox.mustWait(page.find('b'))).toBe(true);
    await page.refill();
    expect(page.waiting()).toEqual(['a', 'b']);
    expect(page.outbox.mustWait(page.find('b'))).toBe(false);
  });

  it('do not wait for those that are newer', async () => {
    const left = pageOf();
    left.add(...of('u', 'first'));
    await advance(1_000);
    for (let i = 0; i < WINDOW; i++) {
      left.add(makeRecord(`e${i}`));
      await settle();
    }
    left.outbox.leave(true);
    await settle();
    const page = pageOf();
    await page.outbox.refill(false);
    expect(page.outbox.hasUnread()).toBe(true);
    expect(page.outbox.mustWait(page.find('first'))).toBe(false);
  });

  it('are left to that page with all that they would overtake', async () => {
    const first = await claimOlder(
      identifyOf('u', 'a'),
      [...identifyOf('v', 'b'), ...of('u', 'c')],
      of('v', 'd'),
    );
    expect(await pageOf().drain()).toEqual([]);
    first.outbox.seek();
    expect(await first.drain()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('go to another where they are of other users', async () => {
    await claimOlder(identifyOf('u', 'a'), of('v', 'b'));
    expect(await pageOf().drain()).toEqual(['b']);
  });

  it('go to another where no identify is before them', async () => {
    await claimOlder(of('u', 'a'), of('u', 'b'));
    expect(await pageOf().drain()).toEqual(['b']);
  });

  it('go to another where nobody is named', async () => {
    await claimOlder([makeRecord('a')], [makeRecord('b')]);
    expect(await pageOf().drain()).toEqual(['b']);
  });
});

describe("a living page's own records", () => {
  /** A minute after these calls another page takes them, while the first page still holds what it has called since. */
  const takeOlder = async (...older: OutboxRecord[]) => {
    const page = pageOf();
    page.add(...older);
    await advance(HOLD_MS - 10_000);
    page.add(makeIdentify('later'), makeRecord('event', { user: 'u' }), makeIdentify('other', 'v'));
    await advance(10_000);
    const another = pageOf();
    await another.refill();
    expect(another.waiting()).toEqual(older.map(({ id }) => id));
    page.outbox.look();
    await page.refill();
    expect(page.waiting()).toEqual(['later', 'event', 'other']);
    const waits = (id: string) => page.outbox.mustWait(page.find(id));
    return { page, another, waits };
  };

  it('wait for an identify of their user that another page has taken', async () => {
    const { page, another, waits } = await takeOlder(makeIdentify('earlier'));
    expect(waits('later')).toBe(true);
    expect(waits('event')).toBe(true);
    expect(waits('other')).toBe(false);
    expect(await another.drain()).toEqual(['earlier']);
    page.outbox.look();
    await page.refill();
    expect(waits('later')).toBe(false);
  });

  it('wait for older ones that were let go, though the page goes away', async () => {
    const page = pageOf();
    page.add(makeIdentify('earlier'));
    await advance(HOLD_MS);
    page.outbox.tidy();
    page.add(makeIdentify('later'));
    expect(page.waiting()).toEqual(['later']);
    expect(page.outbox.mustWait(page.find('later'), true)).toBe(true);
    await page.refill();
    expect(page.waiting()).toEqual(['earlier', 'later']);
    expect(page.outbox.mustWait(page.find('later'), true)).toBe(false);
  });

  it('do not wait for what may be unread where the page goes away', () => {
    const page = pageOf();
    page.add(makeIdentify('first'));
    expect(page.outbox.mustWait(page.find('first'))).toBe(true);
    expect(page.outbox.mustWait(page.find('first'), true)).toBe(false);
  });

  it('wait for it in a later life of their page, too', async () => {
    const page = pageOf();
    page.add(makeIdentify('earlier'));
    await settle();
    page.outbox.leave(true);
    const another = pageOf();
    await another.refill();
    page.outbox.comeBack();
    page.add(makeRecord('later', { user: 'u' }));
    await page.refill();
    expect(page.outbox.mustWait(page.find('later'))).toBe(true);
    expect(await another.drain()).toEqual(['earlier']);
    page.outbox.look();
    await page.refill();
    expect(page.outbox.mustWait(page.find('later'))).toBe(false);
  });

  it('do not wait for an event that another page has taken', async () => {
    const { waits } = await takeOlder(makeRecord('earlier', { user: 'u' }));
    expect(waits('later')).toBe(false);
  });
});

describe('records of one page', () => {
  it('are sent in the order of their calls though the clock was set back between them', async () => {
    const page = pageOf();
    page.add(makeRecord('a'));
    await settle();
    vi.setSystemTime(Date.now() - 1_000);
    page.add(makeRecord('b'));
    await settle();
    expect(page.waiting()).toEqual(['a', 'b']);
    await advance(2 * HOLD_MS);
    expect(await pageOf().drain()).toEqual(['a', 'b']);
  });

  it('are sent in the order of their calls though a tick of the clock saw many of them', async () => {
    const page = pageOf();
    const ids = Array.from({ length: 12 }, (_, i) => `r${i}`);
    for (const id of ids) {
      page.add(makeRecord(id));
      await settle();
    }
    page.outbox.leave(true);
    await settle();
    page.outbox.comeBack();
    expect(await page.drain()).toEqual(ids);
  });
});
