import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MUTANTS } from '../../lab/simulation/mutants.js';

it.each(MUTANTS)('the mutant "$name" has its place in the code', ({ file, find }) => {
  expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2);
});
