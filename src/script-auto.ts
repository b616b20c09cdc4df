import { onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals';
import { autocapture } from './capture/autocapture.js';
import { readAuto } from './capture/read-auto.js';
import { createTracker, type Tracker } from './client/analytics.js';
import { anyWay } from './client/any-way.js';
import { installTag } from './client/browser/install-tag.js';
import { readAttributes } from './client/config/options.js';
import { readContext } from './context/read-context.js';
import { messageOf } from './interface/errors.js';

const webVitals = { onCLS, onFCP, onINP, onLCP, onTTFB };
const { dataset = {} } = (document.currentScript ?? {}) as { dataset?: DOMStringMap };
let tracker: Tracker | undefined;

installTag({
  createTracker: () => (tracker = createTracker(anyWay)),
  readOptions: (data, globals) =>
    readContext(tracker!.analytics, data, readAttributes(data, globals)),
});
try {
  const { auto: words, autoOptions: name } = dataset;
  const globals = window as unknown as Record<string, unknown>;
  const options = readAuto({ words, name, globals, webVitals });
  // Loaded twice, or with its global taken, the tag has made none.
  if (options && tracker) autocapture(tracker.analytics, options);
} catch (error) {
  console.error(messageOf(error));
}
