import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cpus, totalmem, type } from 'node:os';
import type { EngineName } from './engine.js';
import type { Fates } from './fates.js';

/** What the runs of one row came to in one engine. */
export interface Cell {
  runs: number;
  /** Runs that were not as promised. */
  failed: number;
  fates: Fates;
  /** What was wrong, each thing once. */
  wrong: string[];
  /** Page errors, console lines, globals and the like, each once. */
  problems: string[];
  /** Own tasks of 50 ms or more, and in how many runs the engine told of them. */
  longTasks: { count: number; runs: number; longest?: number };
  /** Pages that came back from the back/forward cache, of those that tried; the same of pages without the tag. */
  cached: { yes: number; tried: number; bareYes?: number; bareTried?: number };
  version: string;
  date: string;
  /** Which build it was measured on, as `builtNow` says. */
  build?: string;
}

/** Survived of all, in one engine. */
export interface Rate {
  survived: number;
  runs: number;
  /** Runs in which records were reported as unknown. */
  withUnknown: number;
  wrong: string[];
  version: string;
  date: string;
  /** Which build it was measured on, as `builtNow` says. */
  build?: string;
}

/** One look at the page of a soak. */
export interface SoakSample {
  seconds: number;
  heapBytes: number;
  listeners: number;
  nodes: number;
  storageBytes: number;
  records: number;
  keys: number;
  waiting: number;
}

export interface Soak {
  minutes: number;
  calls: number;
  fates: Fates;
  faults: Record<string, number>;
  samples: SoakSample[];
  problems: string[];
  version: string;
  date: string;
  /** Which build it was measured on, as `builtNow` says. */
  build?: string;
}

export type ByEngine<Value> = Partial<Record<EngineName, Value>>;

/** All that `docs/promise.md` is made of. */
export interface Results {
  machine: string;
  /** The build of the last run. */
  build?: string;
  rows: Record<string, ByEngine<Cell>>;
  rates: Record<string, ByEngine<Rate>>;
  soak?: Soak;
}

export const RESULTS_FILE = 'lab/matrix/results.json';

const EMPTY: Results = { machine: '', rows: {}, rates: {} };

export const readResults = (): Results => {
  try {
    return { ...EMPTY, ...(JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) as Results) };
  } catch {
    return structuredClone(EMPTY); // the first run
  }
};

/** Reads what other runs have written meanwhile, and adds to it. */
export const changeResults = (change: (results: Results) => void): Results => {
  const results = readResults();
  results.machine = `${type()}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB`;
  results.build = builtNow();
  change(results);
  return results;
};

export const today = (): string => new Date().toISOString().slice(0, 10);

/** The tag's file by the start of its hash: what was measured on another one may not hold any more. */
export const builtNow = (): string =>
  createHash('sha256').update(readFileSync('dist/outbox.js')).digest('hex').slice(0, 8);
