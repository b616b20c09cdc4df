import type { Row } from '../row.js';
import { killingRows } from './killing.js';
import { leavingRows } from './leaving.js';
import { networkRows } from './network.js';
import { pageRows } from './page.js';
import { serviceRows } from './service.js';
import { storageRows } from './storage.js';
import { tabRows } from './tabs.js';

/** All rows of the promise. */
export const GROUPS: Record<string, readonly Row[]> = {
  'The service in trouble': serviceRows,
  'The network, and those who watch it': networkRows,
  'Leaving the page': leavingRows,
  'Crashes, and the end of the browser': killingRows,
  'Several tabs': tabRows,
  Storage: storageRows,
  'The page, and what else is in it': pageRows,
};
