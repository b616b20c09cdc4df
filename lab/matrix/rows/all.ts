import type { Row } from '../row.js';
import { killingRows } from './killing.js';
import { leavingRows } from './leaving.js';
import { networkRows } from './network.js';
import { pageRows } from './page.js';
import { serviceRows } from './service.js';
import { storageRows } from './storage.js';
import { tabRows } from './tabs.js';

/** All rows of the matrix, in the order of its table. */
export const ROWS: readonly Row[] = [
  ...serviceRows,
  ...networkRows,
  ...leavingRows,
  ...killingRows,
  ...tabRows,
  ...storageRows,
  ...pageRows,
];
