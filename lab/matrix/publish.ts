import { writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { renderPromise } from './render-promise.js';
import { changeResults, RESULTS_FILE, type Results } from './results.js';
import { ROWS } from './rows/all.js';

const PAGE = 'docs/promise.md';

const write = async (path: string, text: string): Promise<void> => {
  const options = await resolveConfig(path);
  writeFileSync(path, await format(text, { ...options, filepath: path }));
};

/** Adds to the results so far, and writes the page anew from all of them. */
export const publish = async (change: (results: Results) => void): Promise<void> => {
  const results = changeResults(change);
  await write(RESULTS_FILE, JSON.stringify(results));
  await write(PAGE, renderPromise(ROWS, results));
};
