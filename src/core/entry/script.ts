import { createTracker } from '../../core/analytics.js';
import { createDirectSend } from '../../core/delivery/send/direct.js';
import { readAttributes } from '../../core/options.js';
import { installTag } from '../../core/tag.js';

installTag({
  createTracker: (tell) => createTracker(createDirectSend, tell),
  readOptions: readAttributes,
});
