import { AUTO, captured, HERE, namesOf, type Row } from '../support/captured.js';
import { inline } from '../support/html.js';
import { expect, test } from '../support/test.js';
import type { Page } from '@playwright/test';

const path = '/';

/** Links open in a frame, so that the visitor stays on the page. */
const stay = `<base target="frame"><iframe name="frame" hidden></iframe>`;
/** No tab for the middle button, and no program for mail: the links count as followed all the same. */
const stayHere = inline(`for (const type of ['click', 'auxclick']) {
  addEventListener(type, (event) => {
    if (type === 'click' && !event.target.closest('[href^=mailto],[href^=tel]')) return;
    Object.defineProperty(event, 'defaultPrevented', { value: false });
    event.preventDefault();
  });
}`);
const answerAll = (page: Page) =>
  page.route(/^https:..\w+\.example\//, (route) => route.fulfill({ body: 'there' }));

const LINKS = `
<a href="https://other.example/page;jsessionid=2?secret=1#x"><i>Outside</i></a>
<a href="/inside?secret=1">Inside</a>
<a href="mailto:ada@example.com">Mail</a>
<a href="tel:+123">Phone</a>
<a href="http://[">Broken</a>
<a href="/files/Report.PDF?secret=1">Report</a>
<a href="/files/table" download>Table</a>
<a href="https://other.example/a.zip">Archive</a>
<a href="/files/a.psd">Picture</a>
<svg width="20" height="20"><a target="frame" href="https://drawn.example/"><rect id="rect" width="20" height="20"/></a></svg>
<svg width="20" height="20"><a target="frame" xlink:href="https://old.example/"><rect id="old" width="20" height="20"/></a></svg>
<a href="https://other.example/prevented.zip" onclick="event.preventDefault(), event.stopPropagation()">Prevented</a>
<a href="blob:x" download="made.csv" onclick="this.href = window.URL.createObjectURL(new Blob(['secret']))">Made</a>
<a href="data:text/plain;name=secret,secret" download="notes.txt">Notes</a>
<a href="data:text/plain,secret.txt">Shown</a>`;

const follow = async (page: Page) => {
  for (const text of LINKS.match(/(?<=>)\w+(?=<)/g)!) await page.getByText(text).click();
  await page.locator('#rect').click();
  await page.locator('#old').click();
  await page.getByText('Inside').click({ button: 'middle' });
  await page.getByText('Outside').click({ button: 'middle' });
  await page.getByText('Outside').click({ button: 'right' });
};
const out = (url: string): Row => ['Outbound Link Clicked', { path, url }];

test('records links to other hosts, and to files @firefox', async ({ page, service, site }) => {
  const style = { ...AUTO, body: stay + LINKS + stayHere };
  await answerAll(page);
  site.file('/files/table', 'a,b', 'text/csv'); // Firefox shows a page of its own for a download that fails
  await page.goto(site.page('/', site.tagged({ auto: `outbound downloads ${HERE}` }, style)));
  await follow(page);
  const file = (url: string | object, extension?: string): Row => [
    'File Downloaded',
    extension ? { path, url, extension } : { path, url },
  ];
  const expected: Row[] = [
    out('https://other.example/page'),
    file(`${site.url}/files/Report.PDF`, 'pdf'),
    file(`${site.url}/files/table`),
    out('https://other.example/a.zip'),
    file('https://other.example/a.zip', 'zip'),
    file('blob:', 'csv'),
    file('data:', 'txt'),
    out('https://drawn.example/'),
    out('https://old.example/'),
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
  const style = { ...AUTO, head, body: stay + LINKS };
  await answerAll(page);
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

test('records submits of forms: names, never values @firefox', async ({ page, service, site }) => {
  const body = `
<form id="contact" action="/send?secret=1" onsubmit="return false">
  <input type="hidden" name="csrf" value="secret">
  <input name="email" value="ada@example.com"><input name="id"><input name="action">
  <input type="radio" name="size" value="s"><input type="radio" name="size" value="m">
  <select name="plan"><option>secret</option></select><textarea name="message">secret</textarea><input>
  <button name="send">Send</button>
</form>
<form name="search" onsubmit="return false"><input name="q" required><button>Search</button></form>
<input name="tied" form="contact">
<slotted-form><form name="slotted" onsubmit="return false"><button>Slotted</button></form></slotted-form>
<div id="host"></div>
${inline(`customElements.define('a-rating', class extends HTMLElement { static formAssociated = true; internals = this.attachInternals(); });
  document.querySelector('slotted-form').attachShadow({ mode: 'open' }).innerHTML = '<slot></slot>';
  document.getElementById('host').attachShadow({ mode: 'open' }).innerHTML =
    '<form name="inner" onsubmit="return false"><input name="shadowed"><a-rating name="stars"></a-rating><input type="submit" name="ok" value="Deep"></form>';`)}
<form onsubmit="return false"><button>Bare</button></form>
<style>dialog { position: static }</style>
<dialog open><form name="hint" method="dialog"><button>Close</button></form></dialog>
<dialog open><form name="ask"><button formmethod="dialog">Later</button></form></dialog>`;
  await page.goto(site.page('/', site.tagged({ auto: `forms ${HERE}` }, { ...AUTO, body })));
  for (const text of ['Close', 'Later', 'Send']) await page.getByText(text).click();
  await page.getByText('Search').click(); // nothing was filled in, so nothing is submitted
  await page.locator('[name=q]').fill('secret');
  await page.locator('[name=q]').press('Enter');
  await page.getByText('Bare').click();
  for (let time = 0; time < 2; time++) await page.getByText('Slotted').click();
  await page.getByText('Deep').click();
  await page.locator('[name=shadowed]').press('Enter');
  const expected: Row[] = [
    [
      'Form Submitted',
      {
        path,
        form: 'contact',
        fields: ['email', 'id', 'action', 'size', 'plan', 'message', 'tied'],
      },
    ],
    ['Form Submitted', { path, form: 'search', fields: ['q'] }],
    ['Form Submitted', { path, fields: [] }],
    ['Form Submitted', { path, form: 'slotted', fields: [] }],
    ['Form Submitted', { path, form: 'slotted', fields: [] }],
    ['Form Submitted', { path, form: 'inner', fields: ['shadowed', 'stars'] }],
    ['Form Submitted', { path, form: 'inner', fields: ['shadowed', 'stars'] }],
  ];
  expect(await captured(service, namesOf(expected))).toEqual(expected);
});
