interface Job<Item, Result> {
  items: readonly Item[];
  resolve: (results: Result[]) => void;
  reject: (error: unknown) => void;
}

interface GroupOptions<Item, Result> {
  /** Returns a result for each item, in the order of the items. */
  run: (items: readonly Item[]) => Promise<Result[]>;
  /** How many groups may run at once. */
  lanes: number;
}

/** A group that has this many items takes no further job. */
const MAX_ITEMS = 1_000;

/**
 * Group commit: the jobs that arrive while earlier groups run become the next group, since a statement and its commit
 * cost far more than one row. If a group fails, all of its jobs fail.
 */
export const createGroups = <Item, Result>({ run, lanes }: GroupOptions<Item, Result>) => {
  const waiting: Job<Item, Result>[] = [];
  const running = new Set<Promise<void>>();

  const nextGroup = (): Job<Item, Result>[] => {
    let count = 0;
    const end = waiting.findIndex(({ items }) => (count += items.length) >= MAX_ITEMS);
    return waiting.splice(0, end < 0 ? waiting.length : end + 1);
  };
  const runGroup = async (jobs: readonly Job<Item, Result>[]): Promise<void> => {
    try {
      const results = await run(jobs.flatMap(({ items }) => items));
      let start = 0;
      for (const { items, resolve } of jobs) resolve(results.slice(start, (start += items.length)));
    } catch (error) {
      for (const { reject } of jobs) reject(error);
    }
  };
  const runAll = (): void => {
    while (running.size < lanes && waiting.length) {
      const group = runGroup(nextGroup()).finally(() => {
        running.delete(group);
        runAll();
      });
      running.add(group);
    }
  };

  return {
    add: (items: readonly Item[]): Promise<Result[]> =>
      new Promise((resolve, reject) => {
        waiting.push({ items, resolve, reject });
        runAll();
      }),
    /** Settles when no job runs or waits. */
    whenIdle: async (): Promise<void> => {
      while (running.size) await Promise.all(running);
    },
  };
};
