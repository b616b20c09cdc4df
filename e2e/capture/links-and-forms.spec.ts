import { AUTO, captured, HERE, namesOf, type Row } from '../support/captured.js';
import { inline } from '../support/html.js';
import { expect, test } from '../support/test.js';

const path = '/';
const stay = inline(`addEventListener('click', (event) => event.preventDefault());
addEventListener('auxclick', (event) => event.preventDefault());`);

const LINKS = `
<a href="https://other.example/page?secret=1#x"><i>Outside</i></a>
<a href="/inside?secret=1">Inside</a>
<a href="mailto:ada@example.com">Mail</a>
<a href="tel:+123">Phone</a>
<a href="http://[">Broken</a>
<a href="/files/Report.PDF?secret=1">Report</a>
<a href="/files/table" download>Table</a>
<a href="https://other.example/a.zip">Archive</a>
<a href="/files/a.psd">Picture</a>
<svg width="20" height="20"><a href="https://drawn.example/"><rect id="rect" width="20" height="20"/></a></svg>`;

const follow = async (page: import('@playwright/test').Page) => {
  for (const text of LINKS.match(/(?<=>)\w+(?=<)/g)!) await page.getByText(text).click();
  await page.locator('#rect').click();
  await page.getByText('Inside').click({ button: 'middle' });
  await page.getByText('Outside').click({ button: 'middle' });
  await page.getByText('Outside').click({ button: 'right' });
};
const out = (url: string): Row => ['Outbound Link Clicked', { path, url }];

test('records links to other hosts, and to files @smoke', async ({ page, service, site }) => {
  const style = { ...AUTO, body: LINKS + stay };
  await page.goto(site.page('/', site.tagged({ auto: `outbound downloads ${HERE}` }, style)));
  await follow(page);
  const file = (url: string, extension?: string): Row => [
    'File Downloaded',
    extension ? { path, url, extension } : { path, url },
  ];
  const expected: Row[] = [
    out('https://other.example/page'),
    file(`${site.url}/files/Report.PDF`, 'pdf'),
    file(`${site.url}/files/table`),
    out('https://other.example/a.zip'),
    file('https://other.example/a.zip', 'zip'),
    out('https://drawn.example/'),
    out('https://other.example/page'),
  ];
  const rows = await captured(service, namesOf(expected));
  expect(rows).toEqual(expect.arrayContaining(expected));
});

test('takes another list of files, and texts, where that is asked for', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allowGlobals('capture');
  const head = inline(`var capture = {
    outbound: { name: 'Left', channel: 'links', tags: { from: 'test', url: 'mine' }, text: true },
    downloads: { extensions: ['psd'] },
  }`);
  const style = { ...AUTO, head, body: LINKS + stay };
  await page.goto(site.page('/', site.tagged({ auto: HERE, autoOptions: 'capture' }, style)));
  for (const text of ['Outside', 'Report', 'Picture']) await page.getByText(text).click();
  const expected: Row[] = [
    [
      'Left',
      { path, from: 'test', url: 'https://other.example/page', text: 'Outside' },
      { channel: 'links' },
    ],
    ['File Downloaded', { path, url: `${site.url}/files/a.psd`, extension: 'psd' }],
  ];
  expect(await captured(service, namesOf(expected))).toEqual(expected);
});

test('records submits of forms: names, never values @smoke', async ({ page, service, site }) => {
  const body = `
<form id="contact" action="/send?secret=1" onsubmit="return false">
  <input type="hidden" name="csrf" value="secret">
  <input name="email" value="ada@example.com"><input name="id"><input name="action">
  <input type="radio" name="size" value="s"><input type="radio" name="size" value="m">
  <select name="plan"><option>secret</option></select><textarea name="message">secret</textarea><input>
  <button name="send">Send</button>
</form>
<form name="search" onsubmit="return false"><input name="q" required><button>Search</button></form>
<form onsubmit="return false"><button>Bare</button></form>`;
  await page.goto(site.page('/', site.tagged({ auto: `forms ${HERE}` }, { ...AUTO, body })));
  await page.getByText('Send').click();
  await page.getByText('Search').click(); // nothing was filled in, so nothing is submitted
  await page.locator('[name=q]').fill('secret');
  await page.locator('[name=q]').press('Enter');
  await page.getByText('Bare').click();
  const expected: Row[] = [
    [
      'Form Submitted',
      { path, form: 'contact', fields: ['email', 'id', 'action', 'size', 'plan', 'message'] },
    ],
    ['Form Submitted', { path, form: 'search', fields: ['q'] }],
    ['Form Submitted', { path, fields: [] }],
  ];
  expect(await captured(service, namesOf(expected))).toEqual(expected);
});
