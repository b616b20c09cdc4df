import { readAttributes } from './client/options.js';
import { readContext } from './context/read-context.js';
import { autocapture } from './capture/autocapture.js';
import { readAuto } from './capture/read-auto.js';
import { createTracker } from './client/analytics.js';
import { createDirectSend } from './client/delivery/send/direct.js';
import { installTag } from './client/tag.js';
// Of version 5: what 6 adds is soft navigations, which are off unless they are asked for, and 750 B.
import { onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals';

const webVitals = { onCLS, onFCP, onINP, onLCP, onTTFB };

installTag(
  (tell) => createTracker(createDirectSend, tell),
  (data, globals, { analytics }) => {
    // After the calls that the stub has kept: the first view belongs to whom they identify.
    const begin = async () => {
      const options = readAuto(data, globals, webVitals);
      // It begins with `init`.
      if (options) autocapture(analytics, options);
    };
    queueMicrotask(() => begin().catch(console.error));
    return readContext(analytics, data, readAttributes(data, globals));
  },
);
