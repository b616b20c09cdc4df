import type { Row } from '../row.js';
import { killingRows } from './killing.js';
import { leavingRows } from './leaving.js';
import { networkRows } from './network.js';
import { serviceRows } from './service.js';

/** All rows of the matrix, in the order of its table. */
export const ROWS: readonly Row[] = [
  ...serviceRows,
  ...networkRows,
  ...leavingRows,
  ...killingRows,
];
