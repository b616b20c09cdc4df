import { expect, it } from 'vitest';
import { memberOf } from '../../src/client/page.js';
import { pass } from '../support/clock.js';
import { openShop } from '../support/shop.js';

it('hears of its page although elements have the names of members of the document', async () => {
  const { site, service, visit } = openShop();
  for (const name of ['visibilityState', 'addEventListener', 'removeEventListener']) {
    expect(name in site.doc).toBe(true);
    // As with `<form name="addEventListener">` in the page.
    Object.defineProperty(site.doc, name, { value: { nodeName: 'FORM' } });
  }
  visit({ flushInterval: 60_000 }).track(['Viewed']);
  await pass(0);
  expect(service.requests).toEqual([]);
  site.hide();
  expect(service.of('Viewed')).toHaveLength(1);
});

it('takes what an object has itself where its prototypes have no such member', () => {
  expect(memberOf({ title: 'A page' }, 'title')).toBe('A page');
});
