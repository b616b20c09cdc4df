import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../test-results', import.meta.url));

/** Where a step of `npm test` leaves its counts. */
export const resultFile = (step) => `${FOLDER}/${step}.json`;

export function writeResult(step, result) {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(resultFile(step), JSON.stringify(result));
}

/** Undefined when the step wrote none. */
export function readResult(step) {
  try {
    return JSON.parse(readFileSync(resultFile(step), 'utf8'));
  } catch {
    // It failed before it came to that.
    return undefined;
  }
}

/** So that an old result is never taken for a new one. */
export function removeResult(step) {
  rmSync(resultFile(step), { force: true });
}

/** Counts as they are judged: where nothing may be skipped, what was skipped has failed. */
export function judge({ passed, failed, skipped = 0 }, maySkip) {
  return maySkip ? { passed, failed, skipped } : { passed, failed: failed + skipped, skipped: 0 };
}
