import { describe, expect, it } from 'vitest';
import type { Analytics, Options } from '../../src/client/types.js';
import { pass, passUntil, settle } from '../support/clock.js';
import { DIRECT } from '../support/site.js';
import { openTab } from '../support/tab.js';

const HOUR_MS = 3_600_000;

describe('calls made before the script arrives', () => {
  it('keep their order, their times and their users over an hour', async () => {
    const { open, install, service, holds } = openTab();
    const stub = await open();
    const times: Record<string, string> = {};
    const say = async (name: string, fields?: object) => {
      times[name] = new Date().toJSON();
      stub.event(name, fields);
      await pass(HOUR_MS / 8);
    };
    await say('anonymous');
    stub.identify('user_1', { plan: 'pro' });
    await say('one of user_1', { tags: { n: 1 } });
    await say('two of user_1', { icon: '🎉' });
    stub.reset();
    await say('anonymous again');
    stub.identify('user_2');
    await say('one of user_2');
    await say('dated', { timestamp: '2020-02-02T02:02:02.020Z' });
    times['dated'] = '2020-02-02T02:02:02.020Z';
    install();
    await holds([...Object.keys(times), 'identify user_1', 'identify user_2']);
    for (const [name, timestamp] of Object.entries(times))
      expect(service.one(name)).toMatchObject({ timestamp });
    const users = Object.keys(times).map((name) => service.one(name).user_id);
    expect(users).toEqual([undefined, 'user_1', 'user_1', undefined, 'user_2', 'user_2']);
    // The identify first; the events behind it may overtake each other.
    for (const user of ['user_1', 'user_2']) {
      const of = service.stored().filter(({ user_id }) => user_id === user);
      expect(of[0]).toHaveProperty('properties');
    }
    expect(service.one('one of user_1')['tags']).toEqual({ n: 1 });
    expect(service.one('two of user_1')['icon']).toBe('🎉');
  });

  it('may have any arguments, and are dropped with a reason where JSON cannot carry them', async () => {
    const { open, install, holds } = openTab();
    const call = (analytics: Analytics, when: string) => {
      const cyclic: Record<string, unknown> = {};
      cyclic['self'] = cyclic;
      analytics.identify('user_1', undefined);
      analytics.event(`before ${when}`, undefined);
      analytics.event('cyclic', { tags: cyclic });
      analytics.event('big', { tags: { n: 1n } });
      analytics.event('throwing', {
        get tags(): object {
          throw new Error('no tags');
        },
      });
      analytics.event(`after ${when}`, null as never);
    };
    call(await open(), 'early');
    const analytics = install();
    call(analytics, 'late');
    const events = ['before early', 'after early', 'before late', 'after late'];
    await holds([...events, 'identify user_1', 'identify user_1']);
    expect(analytics.status().dropped).toEqual({ 'not-serializable': 6 });
  });

  it('are heard by listeners, answered, and may be followed by calls on the stub', async () => {
    const { open, install, holds } = openTab();
    const stub = await open();
    const { event } = stub;
    const heard: string[] = [];
    stub.on('record', ({ body }) => heard.push((JSON.parse(body) as { event: string }).event));
    await stub.identify('user_1');
    event('early');
    const flushed = stub.flush();
    install();
    stub.event('late');
    event('last');
    await holds(['early', 'late', 'last', 'identify user_1']);
    expect(heard).toEqual([undefined, 'early', 'late', 'last']);
    expect(await flushed).toMatchObject({ delivered: 4 });
  });

  it('have a flush that settles after a second without the script, and are delivered when it comes', async () => {
    const { open, install, holds } = openTab();
    const stub = await open();
    stub.event('one');
    const flushed = stub.flush();
    await pass(1_000);
    expect(await flushed).toMatchObject({ delivered: 0, rejected: 0, retried: 0, waiting: 1 });
    stub.event('two');
    install();
    await holds(['one', 'two']);
  });

  it('are counted by `status()`, which says that nothing has started', async () => {
    const stub = await openTab().open();
    stub.identify('user');
    stub.event('one');
    stub.reset();
    stub.event('two');
    expect(stub.status()).toMatchObject({
      ...{ storage: 'none', paused: 'not-started', waiting: 3 },
      ...{ inFlight: 0, delivered: 0, unknown: 0, dropped: {} },
    });
  });

  it('store and send nothing after a denial, and nothing is stored before consent', async () => {
    const { open, install, service, site } = openTab();
    const stub = await open();
    stub.setConsent('denied');
    stub.identify('user_1');
    stub.event('secret');
    const denied = install();
    await pass(10_000);
    // The stub has thrown them away.
    expect(denied.status()).toMatchObject({ consent: 'denied', dropped: {}, waiting: 0 });
    expect((await site.traces()).join()).not.toContain('user_1');
    expect(service.requests).toEqual([]);
  });

  it('are held in memory while consent is put off, and go on with it', async () => {
    const { open, install, service, site, holds } = openTab();
    const stub = await open();
    stub.setConsent('pending');
    stub.identify('user_1');
    stub.event('held');
    const analytics = install();
    await pass(10_000);
    expect(analytics.status()).toMatchObject({ consent: 'pending', storage: 'none', waiting: 2 });
    expect(await site.traces()).toEqual([]);
    expect(service.requests).toEqual([]);
    analytics.setConsent('granted');
    await holds(['held', 'identify user_1']);
  });

  it('disturb nobody when the script never arrives', async () => {
    const { open, service } = openTab();
    const stub = await open();
    stub.init({ baseUrl: '' } as unknown as Options);
    stub.identify('user_1');
    stub.event('lost');
    void stub.flush();
    stub.on('drop', () => undefined);
    stub.setConsent('granted');
    stub.reset();
    await pass(HOUR_MS);
    expect(service.requests).toEqual([]);
  });

  it('are ten thousand at most', async () => {
    const { open, install } = openTab();
    const stub = await open({ consent: 'pending' });
    for (let i = 0; i < 10_005; i++) stub.event('early');
    expect(install().status()).toMatchObject({ waiting: 10_000, dropped: {} });
  });

  it('are made by an `init` of the stub, in its place', async () => {
    const { open, install, holds } = openTab();
    const none = { baseUrl: undefined, token: undefined, project: undefined, channel: undefined };
    const stub = await open(none);
    stub.event('first');
    stub.init(DIRECT as Options);
    stub.event('second');
    install();
    await holds(['first', 'second']);
  });
});

describe('calls of a page that is left before the script has come', () => {
  it('are made on the next page of the tab, with their times, user and page', async () => {
    const { open, install, service, holds, kept, site } = openTab();
    const stub = await open();
    // As text, these fields look a little like calls of `init` and `setConsent`.
    const tags = { n: 1, info: 'x', size: 2, settings: 'y', list: [3, 'in', 'set'] };
    const timestamp = new Date().toJSON();
    stub.identify('user_1');
    stub.event('early', { tags });
    Object.assign(site.doc, { title: 'Another title' });
    const [, call] = (stub as unknown as { calls: unknown[][] }).calls;
    expect(call!.slice(4)).toEqual(['A page', '/']);
    await pass(10_000);
    await open();
    expect(Object.keys(kept)).toHaveLength(1);
    install();
    await holds(['early', 'identify user_1']);
    expect(service.one('early')).toMatchObject({ user_id: 'user_1', tags, timestamp });
    expect(kept).toEqual({});
  });

  it('are made before those of the next page, so that its user stays', async () => {
    const { open, install, service, holds } = openTab();
    const first = await open();
    first.identify('user_1');
    first.event('one');
    await pass(1_000);
    const second = await open();
    second.reset();
    second.identify('user_2');
    install().event('two');
    await holds(['one', 'two', 'identify user_1', 'identify user_2']);
    expect(service.one('one').user_id).toBe('user_1');
    expect(service.one('two').user_id).toBe('user_2');
  });

  it('are those of all pages that were left, and a `stop()` of one does not stop the next', async () => {
    const { open, install, holds, kept } = openTab();
    for (const name of ['one', 'two', 'three']) {
      const stub = await open();
      stub.event(name);
      if (name === 'three') stub.stop();
      await pass(1_000);
    }
    await open();
    install().event('last');
    await holds(['one', 'two', 'last']); // those of a page that has called `stop()` are not kept
    expect(kept).toEqual({});
  });

  it('are made once where the page stays', async () => {
    const { open, install, holds, kept } = openTab();
    const stub = await open();
    stub.event('one');
    await settle();
    stub.event('two');
    await settle();
    expect(Object.keys(kept)).toHaveLength(1);
    install();
    await holds(['one', 'two']);
    expect(kept).toEqual({});
    await open();
    install();
    await holds(['one', 'two']);
  });

  it.each<[string, Record<string, string>, (stub: Analytics) => void]>([
    ['its tag asks for consent', { consent: 'pending' }, () => undefined],
    ['it asks for consent itself', {}, (stub) => stub.setConsent('pending')],
  ])('are not kept where %s', async (_, attributes, ask) => {
    const { open, kept } = openTab();
    const stub = await open(attributes);
    ask(stub);
    stub.event('early');
    await pass(1_000);
    await open();
    expect(kept).toEqual({});
  });

  it('are those after a consent that follows a denial', async () => {
    const { open, install, holds } = openTab();
    const stub = await open({ consent: 'pending' });
    stub.event('before');
    stub.setConsent('denied');
    stub.event('denied');
    stub.setConsent('granted');
    stub.event('after');
    await pass(1_000);
    await open({ consent: 'pending' });
    install();
    await holds(['after']);
  });

  it('are removed by a denial, which counts on the next page', async () => {
    const { open, install, holds, kept } = openTab();
    kept['analyticspages'] = 'not ours';
    (await open()).event('first page');
    await pass(1_000);
    const stub = await open();
    stub.event('second page');
    // As consent platforms do that load the page again after "reject".
    stub.setConsent('denied');
    stub.event('denied');
    await pass(1_000);
    await open();
    const left = Object.values(kept).join();
    expect(left).toContain('setConsent');
    expect(left).not.toMatch(/first page|second page|"event"/);
    const analytics = install();
    analytics.event('last page');
    expect(analytics.status()).toMatchObject({ consent: 'denied' });
    expect(kept).toEqual({ analyticspages: 'not ours' });
    // A banner that asks again: nothing of before comes back.
    analytics.setConsent('granted');
    analytics.event('granted');
    await passUntil(() => analytics.status().delivered);
    await holds(['granted']);
  });
});
