import type { Analytics } from '../../src/index.js';

/** A set-up that would be heard of if it were used: nothing listens there. */
export const SETUP = {
  baseUrl: 'http://127.0.0.1:9',
  token: 'token',
  project: 'project',
  channel: 'channel',
};

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

/** Every method, rightly and wrongly. Answers with what the flush came to. */
export const callEverything = (analytics: Analytics) => {
  const loose = analytics as unknown as Record<string, (...args: unknown[]) => unknown>;
  analytics.identify('user_1', { plan: 'pro' });
  loose.identify!();
  analytics.event('Event', { tags: { a: 1 }, timestamp: new Date() });
  analytics.event('Cyclic', { tags: cyclic });
  loose.event!(Symbol('no name'), 5n);
  analytics.on('record', () => undefined)();
  loose.on!('dropped', () => undefined);
  analytics.setConsent('pending');
  analytics.setConsent('granted');
  loose.setConsent!('yes');
  analytics.reset();
  analytics.status();
  return analytics.flush();
};

export const NOTHING_DONE = { delivered: 0, retried: 0, rejected: 0, waiting: 0 };
