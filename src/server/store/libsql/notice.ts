import type Database from 'libsql';

/** How often followers look for writes of other processes. */
const LOOK_MS = 500;

/**
 * Calls the followers when something was written: at once by this process, or within half a second by another one.
 * `data_version` changes when another connection has committed, and asking for it reads no table.
 * https://www.sqlite.org/pragma.html#pragma_data_version
 */
export const createNotice = (database: Database.Database) => {
  const followers = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let isTold = false;
  let version: unknown;

  const look = (): unknown => {
    const [row] = database.pragma('data_version') as { data_version: number }[];
    return row?.data_version;
  };
  const tellAll = (): void => {
    isTold = false;
    for (const follower of [...followers]) follower();
  };
  /** Calls them once for all writes of one turn of the event loop. */
  const tell = (): void => {
    if (isTold || !followers.size) return;
    isTold = true;
    setImmediate(tellAll);
  };
  const watch = (): void => {
    try {
      const seen = look();
      if (seen !== version) tell();
      version = seen;
    } catch {
      tell(); // the followers then read, and get the error of the file
    }
  };
  const end = (): void => {
    clearInterval(timer);
    timer = undefined;
  };

  return {
    tell,
    follow: (follower: () => void): (() => void) => {
      const own = () => follower(); // the same function may be given twice
      followers.add(own);
      if (!timer) {
        version = look();
        timer = setInterval(watch, LOOK_MS);
        timer.unref();
      }
      return () => {
        followers.delete(own);
        if (!followers.size) end();
      };
    },
    end: (): void => {
      followers.clear();
      end();
    },
  };
};
