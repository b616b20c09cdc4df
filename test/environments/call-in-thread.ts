import { parentPort } from 'node:worker_threads';
import { analytics } from '../../src/index.js';
import { callEverything, SETUP } from './call-everything.js';

// Bundled and run by node.test.ts.
analytics.init(SETUP);
void callEverything(analytics).then((result) => parentPort!.postMessage(result));
