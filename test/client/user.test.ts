import { expect, it } from 'vitest';
import { createUser } from '../../src/client/user.js';
import { pass } from '../support/clock.js';
import { openShop } from '../support/shop.js';
import { NAME, openSite } from '../support/site.js';

it('does not bring back a user whom another page has forgotten while this one was prerendered', async () => {
  const { site, visit } = openShop();
  const key = `${NAME} user`;
  site.values.set(key, 'user_1');
  Object.assign(site.doc, { prerendering: true, visibilityState: 'hidden' });
  const { analytics, track } = visit();
  track(['Viewed']); // reads who the user is
  await pass(20);
  site.values.set(key, ''); // `reset()` on the page that is shown
  Object.assign(site.doc, { prerendering: false, visibilityState: 'visible' });
  site.say(site.doc, 'prerenderingchange');
  await pass(20);
  expect(analytics.status().userId).toBeUndefined();
  expect(site.values.get(key)).toBe('');
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
  later.set('');
  expect([early.current(), later.current()]).toEqual([undefined, undefined]);
});
