import { createTracker } from './analytics.js';
import { anyWay } from './any-way.js';
import { installTag } from './browser/install-tag.js';
import { readAttributes } from './config/options.js';

installTag({ createTracker: () => createTracker(anyWay), readOptions: readAttributes });
