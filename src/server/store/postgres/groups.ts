interface Job<Item, Result> {
  items: readonly Item[];
  resolve: (results: Result[]) => void;
  reject: (error: unknown) => void;
}

interface GroupOptions<Item, Result> {
  /** Answers a result for each item, in their order. */
  run: (items: readonly Item[]) => Promise<Result[]>;
  /** How many groups may run at once. */
  lanes: number;
}

/** A group takes no more when it has this many items. */
const MAX_ITEMS = 1_000;

/**
 * Runs together what is asked for while earlier groups are running. A statement and its commit cost far more than a
 * row of it. If a group fails, all of it fails.
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
      jobs.forEach(({ reject }) => reject(error));
    }
  };
  const runAll = (): void => {
    while (waiting.length && running.size < lanes) {
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
    /** Settles when nothing runs or waits. */
    whenIdle: async (): Promise<void> => {
      while (running.size) await Promise.all(running);
    },
  };
};
