import { createTracker } from './client/analytics.js';
import { createDirectSend } from './client/delivery/send/direct.js';
import { readAttributes } from './client/options.js';
import { installTag } from './client/tag.js';

installTag((tell) => createTracker(createDirectSend, tell), readAttributes);
