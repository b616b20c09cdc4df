import { createTracker } from './analytics.js';
import { installTag } from './browser/install-tag.js';
import { readAttributes } from './config/options.js';
import { relayWay } from './relay-way.js';

installTag({ createTracker: () => createTracker(relayWay), readOptions: readAttributes });
