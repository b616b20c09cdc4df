import { expect, it, vi } from 'vitest';
import { page } from '../../src/context/page.js';
import { pass, settle } from '../support/clock.js';
import { openTab, runStub, type Frame } from '../support/tab.js';

/** A time of 13 digits. */
const AT = 1_764_000_000_000;
const callsOf = (name: string) => JSON.stringify([[AT, 'event', [name], null, 'T', '/']]);

it('keeps calls while the page loads, and later only as it is left, until a denial', async () => {
  const { open, kept, site } = openTab();
  const stub = await open();
  stub.event('one');
  await settle();
  expect(Object.values(kept)).toEqual([expect.stringContaining('one')]);
  Object.assign(site.doc, { readyState: 'complete' });
  stub.event('two');
  await settle();
  expect(Object.values(kept)).toEqual([expect.not.stringContaining('two')]);
  site.say(site.win, 'pagehide');
  expect(Object.values(kept)).toEqual([expect.stringMatching(/one.*two/)]);
  stub.setConsent('denied');
  await settle();
  expect(Object.values(kept)).toEqual([expect.not.stringMatching(/one|two/)]);
});

it.each([
  [undefined, true],
  ['granted', true],
  ['pending', false],
  ['denied', false],
])('keeps calls where the tag says that consent is %s: %s', async (consent, isKept) => {
  const { open, install, kept, holds } = openTab();
  (await open({ consent })).event('Kept');
  await settle();
  expect(JSON.stringify(kept).includes('Kept')).toBe(isKept);
  if (!isKept) return;
  await open({ consent });
  install();
  await holds(['Kept']);
});

it('makes calls once where a frame of the site has the tag, too', async () => {
  const { open, install, kept, win, holds } = openTab();
  (await open()).event('Of the page');
  await pass(5);
  const frame: Frame = new EventTarget();
  (await runStub(frame, win)).event('Of the frame');
  await settle();
  frame.dispatchEvent(new Event('pagehide'));
  expect(String(Object.values(kept))).not.toContain('Of the frame');
  install();
  vi.stubGlobal('window', win);
  install();
  await holds(['Of the frame', 'Of the page']);
});

const OTHERS = Object.fromEntries(
  [
    ...[`analytics17${AT}`, `${AT}analytics17`],
    ...[`my-analytics1${AT}`, `${AT}my-analytics17`],
  ].map((key) => [key, callsOf('Of another')]),
);

it('makes and removes calls of its own project only, not of one whose id begins alike', async () => {
  const { open, install, kept, holds } = openTab();
  Object.assign(kept, OTHERS, { [`${AT}analytics1`]: callsOf('Own') });
  await open({ project: '1' });
  install();
  await holds(['Own']);
  expect(kept).toEqual(OTHERS);
  kept[`${AT}analytics1`] = callsOf('Denied');
  (await open({ project: '1' })).setConsent('denied');
  await settle();
  expect(kept).toMatchObject(OTHERS);
  expect(JSON.stringify(kept)).not.toContain('Denied');
});

it.each(['[]', 'no JSON', '5', '{}', 'null', '[null, 5]', '[[]]'])(
  'makes what other pages kept where one has kept %s',
  async (text) => {
    const { open, install, kept, holds } = openTab();
    Object.assign(kept, {
      [`${AT}analyticsshop`]: callsOf('Kept'),
      [`${AT + 1}analyticsshop`]: text,
      [`${AT + 2}analyticsshop`]: callsOf('Kept later'),
    });
    vi.spyOn(console, 'error').mockReturnValue();
    (await open()).event('Own');
    install();
    await holds(['Kept', 'Kept later', 'Own']);
  },
);

it('makes a call with its tags though an element is called `title`', async () => {
  const { open, install, service, site, holds } = openTab();
  const stub = await open(
    { context: 'pageTags' },
    { globals: { pageTags: page()(undefined as never) } },
  );
  const form: Record<string, unknown> = {};
  Object.assign(site.doc, { title: (form['self'] = form) });
  stub.event('Early');
  Object.assign(site.doc, { title: 'T' });
  install();
  await holds(['Early']);
  expect(service.one('Early')['tags']).toEqual({ path: '/', title: 'T' });
});

it('keeps calls for the tag of its own global, where the page has two tags with a stub each', async () => {
  const { open, install, kept, holds } = openTab();
  const dataset = { global: 'other', project: 'other', consent: 'pending' };
  const two = { tagsAbove: [{ dataset }] };
  (await open({}, two)).event('Kept');
  await settle();
  expect(Object.keys(kept)).toEqual([expect.stringMatching(/^\d{13}analyticsshop$/)]);
  await open({}, two);
  install();
  await holds(['Kept']);
});
