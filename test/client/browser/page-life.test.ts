// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from 'vitest';

const see = (state: DocumentVisibilityState) => {
  Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
};
const fire = (type: string) => window.dispatchEvent(new Event(type));

/** What a page that follows its life hears, in order. */
const follow = async () => {
  vi.resetModules();
  const life = await import('../../../src/client/browser/page-life.js');
  const heard: string[] = [];
  life.followPage({
    onShown: () => heard.push('shown'),
    onLeave: () => {
      const states = [life.isHidden() && 'hidden', life.isGoing() && 'going'];
      heard.push(states.filter(Boolean).join(', '));
    },
    onReturn: () => heard.push(life.isGoing() ? 'return, going' : 'return'),
    onOnline: () => heard.push('online'),
    onStored: (key) => heard.push(`stored ${key}`),
  });
  return { life, heard };
};

beforeEach(() => see('visible'));

describe('a page', () => {
  it('that is hidden may come back', async () => {
    const { heard } = await follow();
    see('hidden');
    see('visible');
    see('hidden');
    expect(heard).toEqual(['hidden', 'hidden']);
  });

  it('that is closed goes first, and is hidden then', async () => {
    const { heard } = await follow();
    fire('pagehide');
    see('hidden');
    expect(heard).toEqual(['going', 'hidden, going']);
  });

  it('that is hidden and closed then is hidden again, going', async () => {
    const { heard } = await follow();
    see('hidden');
    fire('pagehide');
    expect(heard).toEqual(['hidden', 'hidden, going']);
  });

  it('that comes back from the cache is not going any more', async () => {
    const { heard, life } = await follow();
    fire('pagehide');
    see('hidden');
    fire('pageshow');
    see('visible');
    expect(life.isGoing()).toBe(false);
    expect(heard).toEqual(['going', 'hidden, going', 'return']);
  });

  it('that can be seen again is back, whatever it is told', async () => {
    const { heard, life } = await follow();
    fire('pagehide');
    see('hidden');
    see('visible');
    expect(life.isGoing()).toBe(false);
    fire('pageshow');
    expect(heard).toEqual(['going', 'hidden, going', 'return']);
  });

  it('that is shown for the first time does not return', async () => {
    const { heard } = await follow();
    fire('pageshow');
    expect(heard).toEqual([]);
  });

  it('has every part told that it returns', async () => {
    const { heard, life } = await follow();
    const other = vi.fn();
    life.followPage({
      onShown: () => undefined,
      onLeave: () => undefined,
      onReturn: other,
      onOnline: () => undefined,
      onStored: () => undefined,
    });
    fire('pagehide');
    fire('pageshow');
    expect(heard).toEqual(['going', 'return']);
    expect(other).toHaveBeenCalledTimes(1);
  });

  it('that was frozen resumes', async () => {
    const { heard } = await follow();
    document.dispatchEvent(new Event('resume'));
    expect(heard).toEqual(['return']);
  });

  it('hears of the network and of other tabs', async () => {
    const { heard } = await follow();
    fire('online');
    window.dispatchEvent(new StorageEvent('storage', { key: 'k' }));
    window.dispatchEvent(new StorageEvent('storage', { key: null }));
    expect(heard).toEqual(['online', 'stored k', 'stored null']);
  });

  it('never listens for unload or beforeunload', async () => {
    const added = vi.spyOn(window, 'addEventListener');
    await follow();
    const types = added.mock.calls.map(([type]) => type);
    expect(types).toContain('pagehide');
    expect(types).not.toContain('unload');
    expect(types).not.toContain('beforeunload');
    added.mockRestore();
  });
});

describe('a watch for the departure', () => {
  it('tells, a task later, that the page has gone meanwhile', async () => {
    const { life } = await follow();
    const wasLeft = life.watchDeparture();
    const told = wasLeft(); // asked before the script hears of it
    fire('pagehide');
    expect(await told).toBe(true);
  });

  it('tells so of a page that came back, too', async () => {
    const { life } = await follow();
    const wasLeft = life.watchDeparture();
    fire('pagehide');
    fire('pageshow');
    expect(await wasLeft()).toBe(true);
    expect(await life.watchDeparture()()).toBe(false);
  });

  it('tells so of a page that has called `close`, before any event', async () => {
    const { life } = await follow();
    const wasLeft = life.watchDeparture();
    Object.defineProperty(window, 'closed', { value: true, configurable: true });
    expect(life.isGoing()).toBe(true);
    expect(await wasLeft()).toBe(true);
    Object.defineProperty(window, 'closed', { value: false, configurable: true });
    expect(life.isGoing()).toBe(false);
  });

  it('is not disturbed by a page that was merely hidden', async () => {
    const { life } = await follow();
    const wasLeft = life.watchDeparture();
    see('hidden');
    expect(await wasLeft()).toBe(false);
  });
});

describe('a page that was loaded in advance', () => {
  it('says so, and tells when it is shown', async () => {
    const { life, heard } = await follow();
    expect(life.isPrerendering()).toBe(false);
    Object.defineProperty(document, 'prerendering', { value: true, configurable: true });
    expect(life.isPrerendering()).toBe(true);
    expect(heard).toEqual([]);
    document.dispatchEvent(new Event('prerenderingchange'));
    expect(heard).toEqual(['shown']);
    delete (document as { prerendering?: boolean }).prerendering;
  });
});
