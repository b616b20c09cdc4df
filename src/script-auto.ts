// Of version 5: what 6 adds is soft navigations, which are off unless they are asked for, and 750 B.
import { onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals';
import { autocapture } from './capture/autocapture.js';
import { readAuto } from './capture/read-auto.js';
import { readContext } from './context/read-context.js';
import { createTracker } from './client/analytics.js';
import { createDirectSend } from './client/delivery/send/direct.js';
import { readAttributes } from './client/options.js';
import { memberOf } from './client/page.js';
import { installTag } from './client/tag.js';
import { messageOf } from './interface/errors.js';

const webVitals = { onCLS, onFCP, onINP, onLCP, onTTFB };
const { dataset = {} } = (memberOf(document, 'currentScript') ?? {}) as Partial<HTMLScriptElement>;

const tracker = installTag(
  (tell) => createTracker(createDirectSend, tell),
  (data, globals, { analytics }) => readContext(analytics, data, readAttributes(data, globals)),
);
try {
  const { auto: words, autoOptions: name } = dataset;
  const globals = window as unknown as Record<string, unknown>;
  const options = readAuto({ words, name, globals, webVitals });
  if (options && tracker) autocapture(tracker.analytics, options);
} catch (error) {
  console.error(messageOf(error));
}
