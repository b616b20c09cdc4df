import { AUTO, captured, HERE, namesOf, type Row } from '../support/captured.js';
import { inline } from '../support/html.js';
import { expect, test } from '../support/test.js';

const auto = `clicks ${HERE}`;
const path = '/';

test('records what elements declare: by mouse, key and middle button, in SVG and shadow trees @smoke', async ({
  page,
  service,
  site,
}) => {
  const body = `
<button id="plain" data-event="Signed Up" data-channel="growth" data-icon="🎉" data-notify="true"
  data-description="From the bottom" data-user-id="user_1" data-tag-plan="pro" data-tag-plan-name="Pro"
  data-other="no tag"><b>Sign up</b></button>
<button id="empty" data-event="Emptied" data-user-id="" data-notify="false">No user</button>
<a id="link" href="/elsewhere" data-event="Link Opened">Elsewhere</a>
<svg width="40" height="40"><g id="drawn" data-event="Drawing Clicked"><circle cx="20" cy="20" r="20"/></g></svg>
<div id="host"></div>
<label id="label" data-event="Box Ticked"><span>Tick</span> <input type="checkbox"></label>
<section data-event="Section Clicked"><p id="inside">text</p><a href="#here" id="inner" data-event="Inner Clicked">in</a></section>
<button id="stopped" data-event="Stopped">stops</button>
<form id="form" data-event="Asked" data-tag-form="short" onsubmit="return false"><input name="q"><button>Ask</button></form>
${inline(`{
  const root = document.getElementById('host').attachShadow({ mode: 'open' });
  root.innerHTML = '<button data-event="Shadow Clicked">In the shadow</button>';
  document.getElementById('stopped').onclick = (event) => event.stopPropagation();
  document.addEventListener('auxclick', (event) => event.preventDefault());
}`)}`;
  await page.goto(site.page('/', site.tagged({ auto }, { ...AUTO, body })));
  await page.locator('#plain b').click();
  await page.locator('#empty').press('Enter');
  await page.locator('#link').click({ button: 'middle' });
  await page.locator('#empty').click({ button: 'middle' });
  await page.locator('#empty').click({ button: 'right' });
  await page.locator('#drawn circle').click();
  await page.getByText('In the shadow').press('Space');
  await page.getByText('Tick').click();
  await page.locator('input[type=checkbox]').click();
  await page.locator('#inside').click();
  await page.locator('#inner').press('Enter');
  await page.locator('#stopped').click();
  await page.locator('#form input').fill('a secret');
  await page.locator('#form button').click();
  await page.evaluate(() => {
    const later = document.createElement('button');
    later.textContent = 'Later';
    later.dataset.event = 'Later Clicked';
    document.body.append(later);
  });
  await page.getByText('Later').click();
  const expected: Row[] = [
    [
      'Signed Up',
      { path, plan: 'pro', 'plan-name': 'Pro' },
      {
        channel: 'growth',
        description: 'From the bottom',
        icon: '🎉',
        notify: true,
        user_id: 'user_1',
      },
    ],
    ['Emptied', { path }],
    ['Link Opened', { path }],
    ['Drawing Clicked', { path }],
    ['Shadow Clicked', { path }],
    ['Box Ticked', { path }],
    ['Box Ticked', { path }],
    ['Section Clicked', { path }],
    ['Inner Clicked', { path }],
    ['Stopped', { path }],
    ['Asked', { path, form: 'short' }],
    ['Later Clicked', { path }],
  ];
  expect(await captured(service, namesOf(expected))).toEqual(expected);
});

test('records the first sight of an element, added later or not', async ({
  page,
  service,
  site,
}) => {
  const sight = (name: string) =>
    `<p data-event="${name}" data-event-when="visible" data-tag-of="sight">${name}</p>`;
  const body = `${sight('Seen at once')}<div style="height: 3000px"></div>${sight('Seen below')}`;
  await page.goto(site.page('/', site.tagged({ auto }, { ...AUTO, body })));
  await page.getByText('Seen at once').click(); // a sight is no click
  await service.holds({ events: ['Seen at once'] });
  await page.getByText('Seen below').scrollIntoViewIfNeeded();
  await service.holds({ events: ['Seen at once', 'Seen below'] });
  await page.evaluate(() => scrollTo(0, 0));
  await page.evaluate((html) => document.body.insertAdjacentHTML('afterbegin', html), sight('New'));
  const expected = ['Seen at once', 'Seen below', 'New'].map((name): Row => [
    name,
    { path, of: 'sight' },
  ]);
  expect(await captured(service, namesOf(expected))).toEqual(expected);
});

test('takes no text that a visitor has typed or can choose, or that nobody sees', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allowGlobals('capture');
  const head = inline(`var capture = { clicks: { text: true } }`);
  const body = `
<style>.gone { display: none } .unseen { visibility: hidden } .part { display: contents }</style>
<section data-event="Typed In"><h2>A
  card</h2><textarea>default</textarea><select><option>one</option><option>two</option></select>
  <div contenteditable>draft <i contenteditable="false">@ada</i></div><p>the end</p></section>
<div contenteditable="plaintext-only" data-event="Note Clicked">note</div>
<form data-event="Asked" onsubmit="return false">Ask <input name="closest"><textarea name="textContent">q</textarea><button>Send</button></form>
<section data-event="Card Clicked">
  <h2>Another 🎉</h2>
  <svg width="20" height="20"><style>.a { fill: red }</style><title>icon</title><text y="15">drawn</text></svg>
  <script type="application/json">{ "secret": 1 }</script>
  <noscript>no script</noscript><template>template</template>
  <p hidden>hidden</p><p class="gone">gone <b>too</b></p><p class="unseen">unseen</p>
  <details><summary>more</summary> <p>closed</p></details>
  <p class="part">part</p> <p>the end ${'x'.repeat(200)}</p>
</section>
<button data-event="Emoji Clicked">${'e'.repeat(99)}🎉</button>`;
  const options = { auto, autoOptions: 'capture' };
  await page.goto(site.page('/', site.tagged(options, { ...AUTO, head, body })));
  await page.locator('[contenteditable]').first().pressSequentially('typed ');
  for (const text of ['A card', 'note', 'Send', 'Another', 'eee'])
    await page.getByText(text).first().click();
  const names = ['Typed In', 'Note Clicked', 'Asked', 'Card Clicked', 'Emoji Clicked'];
  const rows = await captured(service, names);
  expect(rows.map(([event, { text }]) => [event, String(text).replace(/x+…$/, 'x…')])).toEqual([
    ['Typed In', 'A card the end'],
    ['Note Clicked', ''],
    ['Asked', 'Ask Send'],
    ['Card Clicked', 'Another 🎉 drawn more part the end x…'],
    ['Emoji Clicked', `${'e'.repeat(99)}…`],
  ]);
});

for (const [what, before, after, text] of [
  ['folded away', '<details><summary>more</summary><div>', '</div></details>', /^Card more$/],
  ['hidden', '<div hidden>', '</div>', /^Card$/],
  ['shown', '', '', /^Card (x ){47}…$/],
] as const) {
  test(`looks at few of 10,000 texts that are ${what}`, async ({ page, guest, service, site }) => {
    guest.allowGlobals('capture', 'asked');
    const head = `${inline(`var capture = { clicks: { text: true } }, asked = 0`)}${inline(`
const { getClientRects } = Range.prototype;
Range.prototype.getClientRects = function () { asked++; return getClientRects.call(this); };`)}`;
    const texts = '<b>x</b> '.repeat(10_000);
    const body = `<section data-event="Card Clicked"><h2>Card</h2> ${before}${texts}${after}</section>`;
    await page.goto(
      site.page('/', site.tagged({ auto, autoOptions: 'capture' }, { ...AUTO, head, body })),
    );
    await page.getByText('Card').click();
    expect(await captured(service, ['Card Clicked'])).toMatchObject([
      ['Card Clicked', { text: expect.stringMatching(text) as unknown }],
    ]);
    expect(await page.evaluate('asked')).toBeLessThanOrEqual(200);
  });
}

test('sees a form, and what is inside, whatever its fields are called', async ({
  page,
  service,
  site,
}) => {
  const names = ['matches', 'dataset', 'attributes', 'getAttribute', 'getAttributeNames'];
  const more = ['closest', 'querySelectorAll', 'contains', 'textContent', 'name', 'id'];
  const fields = [...names, ...more];
  const body = `
<form name="odd" data-event="Asked" data-tag-plan="pro" data-channel="ui" onsubmit="return false">
  ${fields.map((name) => `<input name="${name}">`).join('')}
  <button type="button" data-event="Clicked">Click</button>
  <a href="https://other.example/">Outside</a>
  <button>Send</button>
</form>`;
  const options = { auto: `${auto} forms outbound` };
  await page.route('https://other.example/', (route) => route.fulfill({ status: 204 }));
  await page.goto(site.page('/', site.tagged(options, { ...AUTO, body })));
  // The driver asks the form for its attributes, and gets the field.
  await page.evaluate(() => {
    for (const element of document.querySelectorAll<HTMLElement>('form > button, form > a')) {
      element.click();
    }
  });
  const expected: Row[] = [
    ['Clicked', { path }],
    ['Outbound Link Clicked', { path, url: 'https://other.example/' }],
    ['Asked', { path, plan: 'pro' }, { channel: 'ui' }],
    ['Form Submitted', { path, form: 'odd', fields }],
  ];
  const rows = await captured(service, namesOf(expected));
  expect(rows).toEqual(expect.arrayContaining(expected));
});
