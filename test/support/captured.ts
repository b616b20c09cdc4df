import { afterEach, beforeEach, onTestFinished, vi } from 'vitest';
import { autocapture } from '../../src/autocapture.js';
import type { CaptureOptions } from '../../src/capture/types.js';
import { combine, page, session } from '../../src/context.js';
import { createAnalytics } from '../../src/testing.js';

/** Captures what is asked for on the simulated page until the test ends, in tests that run in happy-dom. */
export const capture = (options: CaptureOptions, parts = [] as Parameters<typeof combine>[1][]) => {
  const analytics = createAnalytics();
  analytics.init({
    relay: '/a',
    project: 'shop',
    channel: 'web',
    context: combine(analytics, ...parts),
  });
  const stop = autocapture(analytics, { automated: true, local: true, ...options });
  onTestFinished(stop);
  return {
    analytics,
    stop,
    /** The tags of the events so far: all, or those with this name. */
    tags: (name?: string): Record<string, unknown>[] =>
      (name ? analytics.events(name) : analytics.events()).map(({ tags }) => ({ ...tags })),
    names: () => analytics.events().map(({ event }) => event),
  };
};

export const SESSION = [page(), session()];

/** Gives the document another member, where browsers have it: on its prototype. */
export const mockDocument = (name: string, value: unknown) =>
  Object.defineProperty(Object.getPrototypeOf(document), name, { configurable: true, value });

const see = (visibilityState: string) => {
  mockDocument('visibilityState', visibilityState);
  EventTarget.prototype.dispatchEvent.call(document, new Event('visibilitychange'));
};
export const hide = () => see('hidden');
export const show = () => see('visible');

/** Has each test begin at the same page, loaded and seen, whose time stands still until it passes. */
export const beginAtHome = () => {
  beforeEach(() => {
    vi.useFakeTimers();
    mockDocument('readyState', 'complete');
    show();
    sessionStorage.clear();
    history.replaceState({}, '', '/');
    document.title = 'Home';
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
    document.body.innerHTML = '';
  });
};
export const pass = (ms: number) => vi.advanceTimersByTime(ms);
export const go = (path: string, title = document.title) => {
  history.pushState({}, '', path);
  document.title = title;
};
