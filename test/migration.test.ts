// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing" }
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { createGtag, takeOverGtag } from '../src/compat-gtag.js';
import { createPlausible } from '../src/compat-plausible.js';
import { createPostHog } from '../src/compat-posthog.js';
import { createUmami } from '../src/compat-umami.js';
import { createAnalytics } from '../src/testing.js';

// Not by `URL`, which is the simulated page's here.
const PAGE = readFileSync(join(fileURLToPath(import.meta.url), '../../docs/migration.md'), 'utf8');
/** The heading of a tool that is not called as its adapter is. */
const TITLES: Record<string, string> = { gtag: 'Google Analytics' };

type Instance = ReturnType<typeof createAnalytics>;

/** What the left column calls, of the tools that have an adapter. */
const ADAPTERS: Record<string, (analytics: Instance) => Record<string, unknown>> = {
  posthog: (analytics) => ({ posthog: createPostHog(analytics) }),
  plausible: (analytics) => ({ plausible: createPlausible(analytics) }),
  umami: (analytics) => ({ umami: createUmami(analytics) }),
  gtag: (analytics) => {
    takeOverGtag(analytics);
    const { dataLayer } = globalThis as { dataLayer?: unknown };
    return { gtag: createGtag(analytics), dataLayer };
  },
  mixpanel: () => ({}),
  amplitude: () => ({}),
  matomo: () => ({}),
};

/** The rows of a tool's table whose right column is code. */
const rowsOf = (tool: string): [left: string, right: string][] => {
  const [, section] = PAGE.split(new RegExp(`^### ${TITLES[tool] ?? tool}$`, 'im'));
  const [own] = section!.split(/^### /m);
  const rows = own!.matchAll(/^\| `([^`]+)` +\| `((?:analytics|document)\.[^`]+)` +\|$/gm);
  return [...rows].map(([, left, right]) => [left!, right!]);
};

/** Runs code of a page with these names. */
const paste = (code: string, names: Record<string, unknown>): unknown =>
  new Function(...Object.keys(names), code)(...Object.values(names));

/** What has come of it: what would be sent, and the consent. */
const cameTo = (analytics: Instance) => ({
  rows: analytics.rows().map(({ type, body }) => {
    const { timestamp, ...rest } = body as unknown as Record<string, unknown>;
    return { type, ...rest, isOld: String(timestamp).startsWith('1970') };
  }),
  consent: analytics.status().consent,
  drops: analytics.drops(),
});

const open = (): Instance => {
  const analytics = createAnalytics();
  analytics.init({ relay: '/a', project: 'shop', channel: 'web' });
  return analytics;
};

afterEach(() => {
  for (const name of ['gtag', 'dataLayer']) Reflect.deleteProperty(globalThis, name);
});

describe.each(Object.keys(ADAPTERS))('the table for those who come from %s', (tool) => {
  it('has rows', () => expect(rowsOf(tool).length).toBeGreaterThan(3));

  it.each(rowsOf(tool))('says what comes to the same as %s', (left, right) => {
    const analytics = open();
    paste(right, { analytics });
    const here = cameTo(analytics);
    expect(here.drops).toEqual([]);
    analytics.stop();
    const other = open();
    const names = ADAPTERS[tool]!(other);
    if (!Object.keys(names).length) return;
    paste(left, names);
    expect(cameTo(other)).toMatchObject(here);
    other.stop();
  });
});
