import { createTracker } from './client/analytics.js';
import { readAttributes } from './client/options.js';
import { installTag } from './client/tag.js';

installTag((tell) => createTracker(undefined, tell), readAttributes);
