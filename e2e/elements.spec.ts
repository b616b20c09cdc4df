import { BARE, htmlPage, inline } from './support/html.js';
import { setupOf } from './support/setup-of.js';
import { scriptTag } from './support/tagged.js';
import { expect, test } from './support/test.js';

/** Forms with the names of all members of the document: from here on `document.title` is a form. */
const FORMS = inline(`{
  const names = [];
  for (const name in document) names.push(name);
  document.body.insertAdjacentHTML('beforeend', names.map((name) => '<form name="' + name + '"></form>').join(''));
}`);

test('elements that have the names of members of the document stand in for none', async ({
  page,
  service,
  site,
}) => {
  const attributes = 'data-context="page"';
  const tag = scriptTag(setupOf(service), { attributes, src: '/dist/outbox-auto.js' });
  const calls = inline(`analytics.event('Viewed');
addEventListener('pagehide', () => analytics.event(typeof document.title));`);
  site.page('/', htmlPage({ body: FORMS + tag + calls }));
  site.page('/bare', BARE);
  await page.goto(site.url + '/', { referer: site.url + '/before' });
  await service.holds({ events: ['Viewed'] });
  await page.goto(site.url + '/bare');
  await service.holds({ events: ['Viewed', 'object'] }); // the title is no text there
  const tags = { title: 'A page', path: '/', referrer: site.url + '/before' };
  expect((await service.events()).map((event) => event.tags)).toEqual([tags, tags]);
});
