interface Sender {
  /** The client that sent the items. Jobs without one are treated as jobs of different clients. */
  sender?: string | undefined;
  /** The job may take long. */
  isHeavy?: boolean | undefined;
}

interface Job<Item, Result> extends Sender {
  items: readonly Item[];
  /** By `performance.now()`. */
  since: number;
  resolve: (results: Result[]) => void;
  reject: (error: unknown) => void;
}

interface GroupOptions<Item, Result> {
  /** Returns a result for each item, in the order of the items. */
  run: (items: readonly Item[]) => Promise<Result[]>;
  /** How many groups may run at once. */
  lanes: number;
  /** Whether a group failed because it ran for too long. Waiting for too long does not count. */
  isLate?: (error: unknown) => boolean;
}

/** A group that has this many items takes no further job. */
const MAX_ITEMS = 1_000;
/** If no group has succeeded for this long before one that was late, the database is slow, and not the job. */
const RECENT_MS = 10_000;
/** After this many failures in a row, the jobs of the other senders are not tried. */
const MAX_FAILURES = 2;
/** How long a heavy job of a slow sender may wait while other jobs run. */
const LAST_MS = 10_000;
/** How many slow senders are remembered at most. */
const MAX_SLOW = 1_000;

/**
 * Group commit: the jobs that arrive while earlier groups run become the next group, since a statement and its commit
 * cost far more than one row. If a group fails, all of its jobs fail.
 *
 * If a group is late while other groups succeed, one of its jobs takes too long. Then the jobs of each sender are tried
 * once more by themselves, and fail only for senders that are late again. From then on the heavy jobs of such a sender
 * run last and alone, so that other jobs do not wait for them again.
 */
export const createGroups = <Item, Result>({
  run,
  lanes,
  isLate = () => false,
}: GroupOptions<Item, Result>) => {
  let waiting: Job<Item, Result>[] = [];
  const running = new Set<Promise<void>>();
  const slow = new Set<string>();
  let passedAt = -Infinity;

  const isLast = ({ sender, isHeavy }: Sender): boolean =>
    !!isHeavy && sender !== undefined && slow.has(sender);

  const rejectAll = (jobs: readonly Job<Item, Result>[], error: unknown): void =>
    jobs.forEach(({ reject }) => reject(error));
  const nextGroup = (): Job<Item, Result>[] => {
    const now = performance.now();
    const ready = waiting.filter((job) => !isLast(job));
    const last = waiting.filter(isLast);
    let count = 0;
    const end = ready.findIndex(({ items }) => (count += items.length) >= MAX_ITEMS);
    // Run a heavy job of a slow sender alone, and only if no other job is there: it may hold the lock for long.
    const most = ready.length || running.size ? 0 : 1;
    const group = [...ready.splice(0, end < 0 ? ready.length : end + 1), ...last.splice(0, most)];
    const isTooLong = ({ since }: Job<Item, Result>) => now - since > LAST_MS;
    rejectAll(last.filter(isTooLong), new Error('it takes too long while others wait'));
    waiting = [...ready, ...last.filter((job) => !isTooLong(job))];
    return group;
  };
  const runTogether = async (jobs: readonly Job<Item, Result>[]): Promise<void> => {
    const results = await run(jobs.flatMap(({ items }) => items));
    passedAt = performance.now();
    let start = 0;
    for (const { items, resolve } of jobs) resolve(results.slice(start, (start += items.length)));
  };
  /** Runs the jobs of one sender, and returns whether they succeeded. */
  const runOfSender = async (
    jobs: readonly Job<Item, Result>[],
    doOthersPass: boolean,
  ): Promise<boolean> => {
    const sender = jobs[0]?.sender;
    try {
      await runTogether(jobs);
      if (sender !== undefined && jobs.some(isLast)) slow.delete(sender);
      return true;
    } catch (error) {
      rejectAll(jobs, error);
      if (sender !== undefined && doOthersPass && isLate(error)) remember(slow, sender);
      return false;
    }
  };
  const runGroup = async (jobs: readonly Job<Item, Result>[]): Promise<void> => {
    const doOthersPass = performance.now() - passedAt < RECENT_MS;
    const senders = bySender(jobs);
    if (senders.length === 1) return void (await runOfSender(jobs, doOthersPass));
    try {
      await runTogether(jobs);
    } catch (error) {
      let failures = doOthersPass && isLate(error) ? 0 : MAX_FAILURES;
      for (const own of senders) {
        if (failures === MAX_FAILURES) rejectAll(own, error);
        else failures = (await runOfSender(own, true)) ? 0 : failures + 1;
      }
    }
  };
  const runAll = (): void => {
    while (running.size < lanes) {
      const jobs = nextGroup();
      if (!jobs.length) return;
      const group = runGroup(jobs).finally(() => {
        running.delete(group);
        runAll();
      });
      running.add(group);
    }
  };

  return {
    add: (items: readonly Item[], sender: Sender = {}): Promise<Result[]> =>
      new Promise((resolve, reject) => {
        waiting.push({ items, since: performance.now(), ...sender, resolve, reject });
        runAll();
      }),
    /** Settles when no job runs or waits. */
    whenIdle: async (): Promise<void> => {
      while (running.size) await Promise.all(running);
    },
  };
};

/** Groups jobs by sender. Senders without heavy jobs come first. */
const bySender = <One extends Sender>(jobs: readonly One[]): One[][] => {
  const all = new Map<unknown, One[]>();
  for (const job of jobs) {
    const key = job.sender ?? job;
    all.set(key, [...(all.get(key) ?? []), job]);
  }
  const isHeavy = (own: readonly One[]) => own.some((job) => job.isHeavy);
  return [...all.values()].sort((a, b) => Number(isHeavy(a)) - Number(isHeavy(b)));
};

/** Adds a name to a set. If the set is full, its oldest name is removed. */
const remember = (names: Set<string>, name: string): void => {
  names.add(name);
  if (names.size > MAX_SLOW) names.delete(names.values().next().value!);
};
