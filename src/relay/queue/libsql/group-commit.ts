import type Database from 'libsql';

interface Job {
  run: () => unknown;
  done: (value: unknown) => void;
  failed: (error: unknown) => void;
}

/**
 * Runs all writes of one turn of the event loop in one transaction, and settles each after the commit. A
 * commit waits for the disk and costs far more than a row.
 */
export const createGroupCommit = (database: Database.Database) => {
  let waiting: Job[] = [];
  const inTransaction = database.transaction((jobs: Job[]) => jobs.map((job) => job.run()));

  const commit = (jobs: Job[]): void => {
    const values = inTransaction.immediate(jobs) as unknown[];
    jobs.forEach((job, index) => job.done(values[index]));
  };
  const commitAlone = (job: Job): void => {
    try {
      commit([job]);
    } catch (error) {
      job.failed(error);
    }
  };
  const flush = (): void => {
    const jobs = waiting;
    waiting = [];
    if (!jobs.length) return;
    try {
      commit(jobs);
    } catch {
      jobs.forEach(commitAlone); // all was rolled back, and one bad job must not fail its neighbours
    }
  };

  return {
    run: <Result>(work: () => Result): Promise<Result> =>
      new Promise<Result>((resolve, reject) => {
        const job: Job = { run: work, done: (value) => resolve(value as Result), failed: reject };
        if (waiting.push(job) === 1) setImmediate(flush);
      }),
    flush,
  };
};

export type GroupCommit = ReturnType<typeof createGroupCommit>;
