import { afterEach, expect, it, vi } from 'vitest';
import { createUser } from '../../src/client/user.js';
import { taken } from '../support/answers.js';
import { DIRECT, NAME, openSite, sleep, track } from '../support/site.js';

afterEach(() => vi.unstubAllGlobals());

it('does not bring back a user whom another page has forgotten while this one was prerendered', async () => {
  const site = openSite();
  const key = `${NAME} user`;
  site.values.set(key, 'user_1');
  Object.assign(site.doc, { prerendering: true, visibilityState: 'hidden' });
  const { analytics } = track({ ...DIRECT, fetch: taken });
  analytics.event('Viewed'); // reads who the user is
  await sleep(20);
  site.values.set(key, ''); // `reset()` on the page that is shown
  Object.assign(site.doc, { prerendering: false, visibilityState: 'visible' });
  site.say(site.doc, 'prerenderingchange');
  await sleep(20);
  const { userId } = analytics.status();
  analytics.stop();
  expect({ userId, stored: site.values.get(key) }).toEqual({ userId: undefined, stored: '' });
});

it('is the one that was set before storage was allowed, or else the one that is stored', () => {
  const { values } = openSite();
  let mayStore = false;
  const create = () => createUser(NAME, () => mayStore);
  const early = create();
  early.set('early');
  expect(values.size).toBe(0);
  mayStore = true;
  early.begin();
  const later = create();
  later.begin();
  expect(later.current()).toBe('early');
  later.set(null);
  expect([early.current(), later.current()]).toEqual([undefined, undefined]);
});

it('is still known to its page when the site has cleared its storage', () => {
  const { values } = openSite();
  const user = createUser(NAME, () => true);
  user.set('user_1');
  values.clear();
  expect(user.current()).toBe('user_1');
});
