import { createTracker } from '../../core/analytics.js';
import { readAttributes } from '../../core/options.js';
import { installTag } from '../../core/tag.js';

installTag({
  createTracker: (tell) => createTracker(undefined, tell),
  readOptions: readAttributes,
});
