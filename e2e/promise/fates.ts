/** What is known at the end of a run. */
export interface Evidence {
  /** Names of the records that calls made, each once. */
  made: readonly string[];
  /** Names in the service's database, each as often as it is there. */
  stored: readonly string[];
  /** Names that pages reported as unknown. */
  unknown: readonly string[];
  /** Names that pages reported as dropped. */
  dropped: readonly string[];
  /** Names that still wait in a page or in the outbox. */
  waiting: readonly string[];
}

/** What became of the records of a run, or of several. */
export interface Fates {
  once: number;
  twice: number;
  /** Not stored, in the four ways that follow. */
  never: number;
  /** Reported as unknown. */
  unknown: number;
  /** Dropped with a reason. */
  dropped: number;
  /** Still waiting: it may come yet. */
  waiting: number;
  /** Nobody knows of it any more. */
  lost: number;
  /** Stored, though nothing of that name was called. */
  strange: number;
}

export const NO_FATES: Fates = {
  once: 0,
  twice: 0,
  never: 0,
  unknown: 0,
  dropped: 0,
  waiting: 0,
  lost: 0,
  strange: 0,
};

const countOf = (names: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

/** The fate of each record by its name, sorted out of what is known. */
export const fatesOf = (evidence: Evidence): Fates => {
  const { made, stored, unknown, dropped, waiting } = evidence;
  const counts = countOf(stored);
  const known = new Set(made);
  const fates = { ...NO_FATES };
  for (const name of made) {
    const times = counts.get(name) ?? 0;
    if (times === 1) fates.once++;
    else if (times > 1) fates.twice++;
    else {
      fates.never++;
      if (unknown.includes(name)) fates.unknown++;
      else if (dropped.includes(name)) fates.dropped++;
      else if (waiting.includes(name)) fates.waiting++;
      else fates.lost++;
    }
  }
  for (const [name, times] of counts) if (!known.has(name)) fates.strange += times;
  return fates;
};

export const addFates = (one: Fates, other: Partial<Fates>): Fates => {
  const sum = { ...one };
  for (const key of Object.keys(NO_FATES) as (keyof Fates)[]) sum[key] += other[key] ?? 0;
  return sum;
};
