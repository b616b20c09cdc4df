import { afterEach, expect, it, vi } from 'vitest';
import { memberOf } from '../../src/client/page.js';
import { DIRECT, openSite, sleep, track } from '../support/site.js';

afterEach(() => vi.unstubAllGlobals());

it('hears of its page although elements have the names of members of the document', async () => {
  const site = openSite();
  for (const name of ['visibilityState', 'addEventListener', 'removeEventListener']) {
    expect(name in site.doc).toBe(true);
    // As with `<form name="addEventListener">` in the page.
    Object.defineProperty(site.doc, name, { value: { nodeName: 'FORM' } });
  }
  const sent: string[] = [];
  const fetch = async (_: unknown, { body }: RequestInit = {}) => {
    sent.push((JSON.parse(body as string) as { event: string }).event);
    return new Response('{"success":true}');
  };
  const { analytics } = track({ ...DIRECT, flushInterval: 60_000, fetch });
  analytics.event('Viewed');
  await sleep(0);
  expect(sent).toEqual([]);
  site.hide();
  expect(sent).toEqual(['Viewed']);
  analytics.stop();
});

it('takes what an object has itself where its prototypes have no such member', () => {
  expect(memberOf({ title: 'A page' }, 'title')).toBe('A page');
});
