import { afterEach, expect, it, vi } from 'vitest';
import { createTracker } from '../../src/client/analytics.js';
import { createDirectSend } from '../../src/client/delivery/send/direct.js';
import { readAttributes } from '../../src/client/options.js';
import { installTag } from '../../src/client/tag.js';
import { page } from '../../src/context/page.js';
import { openSite, sleep } from '../support/site.js';
import { runStub, type Frame } from '../support/tab.js';

afterEach(() => vi.unstubAllGlobals());

/** A time of 13 digits. */
const AT = 1_764_000_000_000;
const callsOf = (name: string) => JSON.stringify([[AT, 'event', [name], null, 'T', '/']]);

/** A page with the stub and a tag, in a tab whose sessionStorage is `kept`. */
const openPage = async (project = 'shop', kept: Record<string, string> = {}) => {
  const site = openSite();
  const dataset = { baseUrl: 'https://in.example.com', token: 't', channel: 'web', project };
  const doc = Object.assign(site.doc, {
    title: 'T' as unknown,
    readyState: 'loading',
    referrer: '',
    currentScript: { src: '', dataset },
    querySelector: () => ({ dataset }),
  });
  vi.stubGlobal('sessionStorage', kept);
  const bodies: { event: string; tags?: object }[] = [];
  vi.stubGlobal('fetch', async (_: string, { body }: RequestInit) => {
    bodies.push(JSON.parse(body as string) as (typeof bodies)[0]);
    return new Response('{"success":true}');
  });
  const win: Frame = site.win;
  return { ...site, doc, kept, bodies, win, stub: await runStub(win, win) };
};

/** The tag's file comes, and delivers all. */
const install = async (options = {}) => {
  const { analytics } = installTag(
    (tell) => createTracker(createDirectSend, tell),
    (dataset, globals) => ({ ...readAttributes(dataset, globals), ...options }),
  )!;
  analytics.event('Last');
  await vi.waitFor(async () => {
    await analytics.flush();
    expect(analytics.status().waiting).toBe(0);
  });
  analytics.stop();
};
const eventsOf = (bodies: { event: string }[]) => bodies.map(({ event }) => event).sort();

it('keeps calls while the page loads, and later only as it is left', async () => {
  const { doc, kept, stub, say, win } = await openPage();
  stub.event('one');
  await sleep(0);
  expect(Object.values(kept)).toEqual([expect.stringContaining('one')]);
  doc.readyState = 'complete';
  stub.event('two');
  await sleep(0);
  expect(Object.values(kept)).toEqual([expect.not.stringContaining('two')]);
  say(win, 'pagehide');
  expect(Object.values(kept)).toEqual([expect.stringMatching(/one.*two/)]);
});

it('removes what is kept at once where consent is denied, loaded or not', async () => {
  const { doc, kept, stub } = await openPage();
  stub.event('one');
  await sleep(0);
  doc.readyState = 'complete';
  stub.setConsent('denied');
  await sleep(0);
  expect(Object.values(kept)).toEqual([expect.not.stringContaining('one')]);
});

it('makes calls once where a frame of the site has the tag, too', async () => {
  const { bodies, kept, stub, win } = await openPage();
  stub.event('Of the page');
  await sleep(0);
  const frame: Frame = new EventTarget();
  (await runStub(frame, win)).event('Of the frame');
  await sleep(0);
  frame.dispatchEvent(new Event('pagehide'));
  expect(String(Object.values(kept))).not.toContain('Of the frame');
  await install();
  vi.stubGlobal('window', win);
  await install();
  expect(eventsOf(bodies)).toEqual(['Last', 'Last', 'Of the frame', 'Of the page']);
});

const OTHERS = [
  `analytics17${AT}`,
  `${AT}analytics17`,
  `my-analytics1${AT}`,
  `${AT}my-analytics17`,
];

it('makes and removes no calls of a project whose id begins alike', async () => {
  const kept = Object.fromEntries(OTHERS.map((key) => [key, callsOf('Of another')]));
  const { bodies } = await openPage('1', { ...kept, [`${AT}analytics1`]: callsOf('Own') });
  await install();
  expect(eventsOf(bodies)).toEqual(['Last', 'Own']);
  expect(sessionStorage).toEqual(kept);
});

it('removes by a denial what is kept of its own project only', async () => {
  const kept = Object.fromEntries(OTHERS.map((key) => [key, callsOf('Of another')]));
  const { stub } = await openPage('1', { ...kept, [`${AT}analytics1`]: callsOf('Own') });
  stub.setConsent('denied');
  await sleep(0);
  expect(sessionStorage).toMatchObject(kept);
  expect(JSON.stringify(sessionStorage)).not.toContain('Own');
});

it.each(['[]', 'no JSON', '5', '{}', 'null', '[null, 5]', '[[]]'])(
  'makes what other pages kept where one has kept %s',
  async (text) => {
    const { bodies, stub } = await openPage('shop', {
      [`${AT}analyticsshop`]: callsOf('Kept'),
      [`${AT + 1}analyticsshop`]: text,
      [`${AT + 2}analyticsshop`]: callsOf('Kept later'),
    });
    vi.spyOn(console, 'error').mockReturnValue();
    stub.event('Own');
    await install();
    expect(eventsOf(bodies)).toEqual(['Kept', 'Kept later', 'Last', 'Own']);
  },
);

it('makes a call with its tags though an element is called `title`', async () => {
  const { bodies, doc, stub } = await openPage();
  const form: Record<string, unknown> = {};
  doc.title = form['self'] = form;
  stub.event('Early');
  doc.title = 'T';
  await install({ context: page()(undefined as never) });
  expect(bodies.find(({ event }) => event === 'Early')!.tags).toEqual({ path: '/', title: 'T' });
});
