import type { RowsPage } from './service-client.js';

interface Effects<Row> {
  page: (after: number) => Promise<RowsPage<Row>>;
  demoId: (row: Row) => string | undefined;
  /** Latest rows to keep. */
  keep: number;
}

/** Reads one table of the service bit by bit: only what is new since the last look. */
export const createTableReader = <Row extends { id: number }>(effects: Effects<Row>) => {
  const { page, demoId, keep } = effects;
  let counts = new Map<string, number>();
  let latest: Row[] = [];
  let last = 0;
  let seen = 0;
  let total = 0;

  const forget = () => {
    counts = new Map();
    latest = [];
    last = seen = 0;
  };

  const take = (rows: Row[]) => {
    for (const row of rows) {
      const id = demoId(row);
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    latest = [...latest, ...rows].slice(-keep);
    last = rows.at(-1)?.id ?? last;
    seen += rows.length;
  };

  return {
    /** Reads to the end. Says whether anything has changed. */
    read: async (): Promise<boolean> => {
      const before = `${last} ${total}`;
      for (;;) {
        const { rows, total: now } = await page(last);
        take(rows);
        total = now;
        if (seen > total) {
          // Rows have been deleted: begin anew.
          forget();
          continue;
        }
        if (rows.length === 0 || seen === total) return before !== `${last} ${total}`;
      }
    },
    count: (id: string): number => counts.get(id) ?? 0,
    latest: (): readonly Row[] => latest,
    total: (): number => total,
  };
};
