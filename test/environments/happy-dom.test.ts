// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/" }
import { afterEach, describe, expect, it, vi } from 'vitest';
import { callEverything, NOTHING_DONE, SETUP } from './call-everything.js';
import { watchGlobals } from './watch-globals.js';

const INDEX = '../../src/index.js';
const load = () => import(/* @vite-ignore */ INDEX) as Promise<typeof import('../../src/index.js')>;

afterEach(() => {
  vi.restoreAllMocks();
  vi.resetModules();
});

describe('in a test with a simulated page', () => {
  it('leaves no trace when imported, and none when called before `init`', async () => {
    expect(document.visibilityState).toBe('visible');
    const traces = watchGlobals();
    const { analytics, createAnalytics } = await load();
    for (const one of [analytics, createAnalytics()]) {
      expect(await callEverything(one)).toMatchObject({ delivered: 0, retried: 0, rejected: 0 });
    }
    expect(traces()).toEqual([]);
    expect(localStorage).toHaveLength(0);
  });

  it.each([
    ['is', SETUP],
    ['is not', {} as typeof SETUP],
  ])('is silent when disabled, with the same methods, where it %s set up', async (_, setup) => {
    const traces = watchGlobals();
    const { createAnalytics } = await load();
    const onDrop = vi.fn();
    const silent = createAnalytics({ ...setup, disabled: true, onDrop });
    expect(await callEverything(silent)).toEqual(NOTHING_DONE);
    expect(silent.status()).toMatchObject({ storage: 'none', waiting: 0, dropped: {} });
    expect(onDrop).not.toHaveBeenCalled();
    expect(traces()).toEqual([]);
    expect(localStorage).toHaveLength(0);
  });

  it('works there when asked to, from memory and through the given fetch', async () => {
    const traces = watchGlobals();
    const { createAnalytics } = await load();
    const sent: string[] = [];
    const answer = () => new Response('{"success":true}', { status: 200 });
    const analytics = createAnalytics({
      ...SETUP,
      fetch: (_, init) => {
        sent.push((JSON.parse(init!.body as string) as { event: string }).event);
        return Promise.resolve(answer());
      },
    });
    expect(traces()).toContain('called addEventListener'); // so it is noticed
    analytics.event('One');
    analytics.event('Two');
    expect(await analytics.flush()).toMatchObject({ delivered: 2, waiting: 0 });
    expect(sent).toEqual(['One', 'Two']);
    expect(analytics.status().storage).toBe('memory');
    analytics.init({ ...SETUP, disabled: true });
    analytics.event('Three');
    expect(await analytics.flush()).toMatchObject({ delivered: 0 });
    expect(sent).toEqual(['One', 'Two']);
  });
});
