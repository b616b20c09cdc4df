import { describe, expect, it } from 'vitest';
import {
  addOlder,
  arrive,
  bringIn,
  NO_ROWS,
  withoutErased,
  type Arrival,
  type KeptRows,
} from '../../../src/server/rows/page/state/kept-rows.js';
import type { Row } from '../../../src/server/store/port.js';

const arrival = (seq: number, size = 1, arrivals = 1): Arrival => ({
  row: { seq, arrivals } as Row,
  size,
});
const batch = (from: number, to: number): Arrival[] =>
  Array.from({ length: to - from + 1 }, (_, at) => arrival(from + at));
const seqs = (list: readonly Arrival[]): number[] => list.map(({ row }) => row.seq);

const bounds = { rows: 5, size: 100 };
const flow = (kept: KeptRows, rows: readonly Arrival[]) =>
  arrive(kept, rows, { isHeld: false, bounds });
const hold = (kept: KeptRows, rows: readonly Arrival[]) =>
  arrive(kept, rows, { isHeld: true, bounds });

describe('rows that flow', () => {
  it('are shown newest first, each once', () => {
    const kept = flow(flow(NO_ROWS, batch(1, 3)), batch(2, 4));
    expect(seqs(kept.shown)).toEqual([4, 3, 2, 1]);
    expect(kept.waitingCount).toBe(0);
  });

  it('are kept up to a number, and to a size; the older ones can be fetched', () => {
    const many = flow(NO_ROWS, batch(1, 9));
    expect(seqs(many.shown)).toEqual([9, 8, 7, 6, 5]);
    expect(many.hasOlder).toBe(true);
    const large = flow(NO_ROWS, [arrival(1, 60), arrival(2, 30), arrival(3, 60)]);
    expect(seqs(large.shown)).toEqual([3, 2]);
    // One is always shown.
    expect(seqs(flow(large, [arrival(4, 1000)]).shown)).toEqual([4]);
  });

  it('take a new count of arrivals in their place', () => {
    const kept = flow(flow(NO_ROWS, batch(1, 3)), [arrival(2, 1, 5)]);
    expect(kept.shown.map(({ row }) => row.arrivals)).toEqual([1, 5, 1]);
  });
});

describe('rows that the service has erased', () => {
  const row = (seq: number, more: Partial<Row> = {}): Arrival => ({
    row: {
      ...({ seq, project: 'p', channel: 'c', event: 'e', arrivals: 1 } as Row),
      ...{ received_at: `2026-03-01T12:00:0${seq}.000Z`, ...more },
    },
    size: 1,
  });

  it('go from what is shown and from what waits, and no others', () => {
    const kept = hold(flow(NO_ROWS, [row(1, { user_id: 'u' }), row(2)]), [
      ...[row(3, { user_id: 'u' }), row(4, { user_id: 'u', project: 'q' })],
      row(5, { user_id: 'u' }),
    ]);
    const left = withoutErased(kept, [{ place: 5, upto: 5, project: 'p', user_id: 'u' }]);
    expect([seqs(left.shown), seqs(left.waiting), left.waitingCount]).toEqual([[2], [5, 4], 2]);
  });

  it.each([
    [{ channel: 'd' }, [4, 3, 1]],
    [{ event: 'e' }, [3]],
    [{ from: '2026-03-01T12:00:02.000Z', to: '2026-03-01T12:00:04.000Z' }, [4, 1]],
    [{ from: '2026-03-01T12:00:02.000Z', upto: 4 }, [4, 1]],
  ])('fit all that the erasure names: %j', (more, left) => {
    const rows = [row(1), row(2, { channel: 'd' }), row(3, { event: 'f' }), row(4)];
    const erasure = { place: 9, upto: 9, project: 'p', ...more };
    expect(seqs(withoutErased(flow(NO_ROWS, rows), [erasure]).shown)).toEqual(left);
  });
});

describe('rows that are held', () => {
  it('wait, are counted, and come in on top', () => {
    const kept = hold(hold(flow(NO_ROWS, batch(1, 2)), batch(3, 3)), batch(3, 4));
    expect(seqs(kept.shown)).toEqual([2, 1]);
    expect(kept.waitingCount).toBe(2);
    const brought = bringIn(kept, bounds);
    expect(seqs(brought.shown)).toEqual([4, 3, 2, 1]);
    expect(brought.waitingCount).toBe(0);
    expect(bringIn(brought, bounds)).toBe(brought);
  });

  it('never make a gap: when too many wait, what was shown is fetched again later', () => {
    const kept = hold(flow(NO_ROWS, batch(1, 2)), batch(3, 12));
    expect(kept.waitingCount).toBe(10);
    const brought = bringIn(kept, bounds);
    expect(seqs(brought.shown)).toEqual([12, 11, 10, 9, 8]);
    expect(brought.hasOlder).toBe(true);
  });
});

describe('older rows', () => {
  it('come in below', () => {
    const kept = addOlder(flow(NO_ROWS, batch(4, 5)), batch(2, 3).reverse(), {
      ...{ before: 4, hasOlder: true, bounds },
    });
    expect(seqs(kept.shown)).toEqual([5, 4, 3, 2]);
    expect([kept.hasOlder, kept.isTorn]).toEqual([true, false]);
  });

  it('push out the newest, which come back with what is brought in', () => {
    const old = addOlder(flow(NO_ROWS, batch(6, 9)), batch(1, 5).reverse(), {
      ...{ before: 6, hasOlder: false, bounds },
    });
    expect(seqs(old.shown)).toEqual([5, 4, 3, 2, 1]);
    const brought = bringIn(hold(old, batch(10, 11)), bounds);
    expect(seqs(brought.shown)).toEqual([11, 10]);
    expect(brought.hasOlder).toBe(true);
    // With nothing new, all of it is fetched again.
    expect(bringIn(old, bounds)).toMatchObject({ shown: [], hasOlder: true, isTorn: false });
  });

  it('never make a gap: what has come too late is fetched again', () => {
    const asked = { before: 4, hasOlder: false, bounds };
    const trimmed = flow(flow(NO_ROWS, batch(4, 8)), batch(9, 10));
    expect(seqs(trimmed.shown)).toEqual([10, 9, 8, 7, 6]);
    expect(addOlder(trimmed, batch(1, 3).reverse(), asked)).toBe(trimmed);
  });
});
