import { createTracker } from './client/analytics.js';
import { installTag } from './client/browser/install-tag.js';
import { readAttributes } from './client/config/options.js';
import { relayWay } from './client/relay-way.js';

installTag({ createTracker: () => createTracker(relayWay), readOptions: readAttributes });
