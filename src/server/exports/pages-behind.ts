import type { Row, Store } from '../store/port.js';

/** Rows that are read at a time. */
const PAGE = 1_000;

/** Reads the rows behind a place, and before another one if it is given, in pages. */
export async function* pagesBehind(
  store: Pick<Store, 'rows'>,
  place: number,
  before?: number,
): AsyncGenerator<readonly Row[], void> {
  for (let after = place; ;) {
    const rows = await store.rows({}, { after, before, limit: PAGE });
    if (!rows.length) return;
    yield rows;
    after = rows.at(-1)!.seq;
  }
}
