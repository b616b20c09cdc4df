import type Database from 'libsql';

interface Job {
  run: () => unknown;
  done: (value: unknown) => void;
  failed: (error: unknown) => void;
}

export type GroupCommit = ReturnType<typeof createGroupCommit>;

/**
 * Writes that arrive in one turn of the event loop share one transaction, and each is told only
 * after its commit. A commit costs far more than a row, so this is most of the throughput.
 */
export function createGroupCommit(database: Database.Database) {
  let waiting: Job[] = [];

  const inTransaction = database.transaction((jobs: Job[]) => jobs.map((job) => job.run()));

  function commit(jobs: Job[]): void {
    const values = inTransaction.immediate(jobs) as unknown[];
    jobs.forEach((job, index) => job.done(values[index]));
  }

  function commitAlone(job: Job): void {
    try {
      commit([job]);
    } catch (error) {
      job.failed(error);
    }
  }

  /** Commits what waits. Also called before the database is closed. */
  function flush(): void {
    const jobs = waiting;
    waiting = [];
    if (jobs.length === 0) return;
    try {
      commit(jobs);
    } catch {
      // All of it was rolled back. One bad job must not fail its neighbours: each tries alone.
      jobs.forEach(commitAlone);
    }
  }

  /** Runs the work in the next transaction; settles after the commit. */
  function write<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const job: Job = { run: work, done: (value) => resolve(value as T), failed: reject };
      if (waiting.push(job) === 1) setImmediate(flush);
    });
  }

  return { write, flush };
}
