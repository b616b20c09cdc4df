import { expect, it, test } from 'vitest';
import { createGtag } from '../../src/compat-gtag.js';
import { createLogSnag } from '../../src/compat-logsnag.js';
import { createPostHog } from '../../src/compat-posthog.js';
import { createSegment } from '../../src/compat-segment.js';
import { createUmami } from '../../src/compat-umami.js';
import type { Analytics } from '../../src/client/types.js';
import { pass } from '../support/clock.js';
import { openTab } from '../support/tab.js';

/** Tells the user to a tool by what needs to know who is identified; answers with whom the tool knows. */
type Tool = (analytics: Analytics) => () => unknown;

const PLAN = { plan: 'pro' };
const TOOLS: Record<string, Tool> = {
  gtag: (analytics) => {
    const gtag = createGtag(analytics);
    return () => gtag('set', 'user_properties', PLAN);
  },
  LogSnag: (analytics) => {
    const { identify } = createLogSnag(analytics);
    return () => identify({ properties: PLAN } as never);
  },
  PostHog: (analytics) => {
    const posthog = createPostHog(analytics);
    return () => (posthog.setPersonProperties(PLAN), posthog.get_distinct_id());
  },
  Segment: (analytics) => {
    const segment = createSegment(analytics);
    return () => (void segment.identify(PLAN), segment.user().id());
  },
  Umami: (analytics) => {
    const { identify } = createUmami(analytics);
    return () => identify(PLAN);
  },
};
const KNOWN: Record<string, unknown> = { PostHog: 'u1', Segment: 'u1' };

test.each(Object.keys(TOOLS))(
  '%s over the stub knows the user as soon as the tag has come',
  async (tool) => {
    const { open, install, service } = openTab();
    const use = TOOLS[tool]!(await open());
    const analytics = install();
    analytics.identify('u1');
    const known = await use();
    if (tool in KNOWN) expect(known).toEqual(KNOWN[tool]);
    await pass(3_000);
    expect(service.names()).toEqual(['identify u1', 'identify u1']);
    expect(service.stored()).toMatchObject([{}, { properties: PLAN }]);
  },
);

it('PostHog over the stub knows what the visitor has chosen as soon as the tag has come', async () => {
  const { open, install } = openTab();
  const posthog = createPostHog(await open());
  install();
  posthog.opt_out_capturing();
  expect([posthog.has_opted_out_capturing(), posthog.has_opted_in_capturing()]).toEqual([
    true,
    false,
  ]);
});
