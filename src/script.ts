import { createTracker } from './client/analytics.js';
import { anyWay } from './client/any-way.js';
import { installTag } from './client/browser/install-tag.js';
import { readAttributes } from './client/config/options.js';

installTag({ createTracker: () => createTracker(anyWay), readOptions: readAttributes });
