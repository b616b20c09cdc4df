import { createAnalytics } from 'analytics-outbox';
import { autocapture } from 'analytics-outbox/autocapture';

interface Events {
  'Item Added': { item: string; count: number };
  'Checked Out': object;
}

interface Traits {
  plan: 'free' | 'pro';
}

/** The one instance of the app. Imported wherever something is tracked. */
export const analytics = createAnalytics<Events, Traits>();

analytics.init({
  baseUrl: 'http://127.0.0.1:8787',
  token: 'demo-token',
  project: 'shop',
  channel: 'web',
});
// With `local` on localhost, too, where you try this.
autocapture(analytics, { pageviews: true, local: true });
