import { expect, test as base, type Locator, type Page } from '@playwright/test';
import { axeFinds, COLOURS } from './support/axe.js';
import { createRowsService, incoming, type RowsService } from './support/rows.js';
import { makeTempFolder, removeTempFolder } from './support/temp-folder.js';

const TAG = '<script async src="http://localhost/outbox-auto.js" data-project="shop"></script>';

const test = base.extend<{
  readToken: string;
  tag: string;
  service: RowsService;
  complaints: string[];
}>({
  readToken: ['', { option: true }],
  tag: [TAG, { option: true }],
  service: async ({ page, readToken, tag }, use) => {
    const folder = makeTempFolder();
    const service = await createRowsService(folder, { tag, ...(readToken && { readToken }) });
    await use(service);
    // Before the service, whose end would be a complaint.
    await page.close();
    await service.stop();
    removeTempFolder(folder);
  },
  /** What the page says on the console: a breach of its policy, or an error. It has to be silent. */
  complaints: [
    async ({ page }, use) => {
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(String(error)));
      await use(complaints);
      expect(complaints).toEqual([]);
    },
    { auto: true },
  ],
});

const rows = (page: Page): Locator => page.locator('.row');
const row = (page: Page, name: string): Locator => rows(page).filter({ hasText: name }).first();
const newRows = (page: Page): Locator => page.getByRole('button', { name: /new$/ });
const live = (page: Page): Locator => page.locator('.live p');
const open = async (page: Page, service: RowsService, query = ''): Promise<void> => {
  await page.goto(`${service.url}/rows${query}`);
  await expect(live(page)).toContainText('Live');
};
const seqsOf = (page: Page): Promise<number[]> =>
  rows(page).evaluateAll((all) => all.map((one) => Number((one as HTMLElement).dataset['seq'])));
/** No wider than the window: neither the page, nor what a row that is open shows, whose overflow no page counts. */
const fits = (page: Page): Promise<boolean> =>
  page.evaluate(
    () =>
      document.documentElement.scrollWidth <= innerWidth &&
      [...document.querySelectorAll('.top *, .details :not(pre, pre *)')].every(
        (element) => element.getBoundingClientRect().right <= innerWidth,
      ),
  );

test('waits for the first event, ticks each step, and shows the row as it comes @firefox', async ({
  page,
  service,
}) => {
  await open(page, service);
  await expect(page.getByRole('heading', { name: 'Waiting for your first event' })).toBeVisible();
  await expect(page.getByLabel('Tag', { exact: true })).toHaveText(TAG);
  // The file of the token is named, so that the command works as it is.
  await expect(page.getByLabel('Command')).toContainText("TOKEN=$(cat '/data/write-token')");
  const steps = page.locator('.steps li');
  await expect(steps.nth(0)).toHaveClass('next');

  await service.preflight();
  await expect(steps.nth(1)).toHaveClass('done');
  await service.post('/v1/event', { project: 'shop', channel: 'web', event: 'Hi' }, 'wrong');
  await expect(steps.nth(2)).toHaveClass('failing');
  await expect(steps.nth(2)).toContainText('none of the write tokens');

  const tags = { plan: 'pro', seats: 3 };
  const event = { project: 'shop', channel: 'web', event: 'Signed Up', icon: '🎉', tags };
  await service.post('/v1/event', { ...event, user_id: 'user_42', description: 'by mail' });
  await expect(rows(page)).toHaveCount(1);
  for (const text of ['Signed Up', '🎉', 'by mail', 'user_42', 'plan pro', 'seats 3'])
    await expect(rows(page)).toContainText(text);
  await service.post('/v1/identify', {
    ...{ project: 'shop', user_id: 'user_42', properties: { seats: 4 } },
  });
  await expect(rows(page)).toHaveCount(2);
  await expect(rows(page).first()).toContainText('identify');
  await expect(rows(page).first()).toContainText('seats 4');
});

test.describe('with a tag that says where to send', () => {
  const place = 'data-base-url="/" data-token="write-token"';
  test.use({
    tag: `<script src="/o.js" ${place} data-project="shop" data-channel="web"></script>`,
  });

  test('sends a test event, as a page with the tag would', async ({ page, service }) => {
    await open(page, service);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await expect(rows(page)).toHaveCount(1);
    await expect(rows(page)).toContainText('Test Event');
  });
});

test('says how late a record came, that a repeat is stored once, and what this browser has sent', async ({
  page,
  service,
}) => {
  const late = incoming('Late', {}, { late: 134_000, client: 'another' });
  await service.store(late, incoming('Soon', {}, { client: 'another' }));
  await service.store(late);
  await open(page, service);
  await expect(row(page, 'Late')).toContainText('2 min 14 s later');
  await expect(row(page, 'Late')).toContainText('came 2 times, stored once');
  await expect(row(page, 'Soon')).not.toContainText(/later|came/);
  await page.evaluate(async () => {
    const headers = { authorization: 'Bearer write-token', 'content-type': 'application/json' };
    const body = JSON.stringify({ project: 'shop', channel: 'web', event: 'From Here' });
    await fetch('/v1/event', { method: 'POST', headers, body });
  });
  await expect(rows(page)).toHaveCount(3);
  await page.getByLabel('Only this browser').check();
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText('From Here');
});

test('is there before its script has come, tells days apart, and names each tab in the title', async ({
  page,
  service,
}) => {
  const receivedAt = new Date(Date.now() - 86_400_000).toISOString();
  await service.store(incoming('Of Yesterday', {}, { receivedAt }), incoming('Of Today'));
  let hasSeen = (): void => undefined;
  const seen = new Promise<void>((resolve) => (hasSeen = resolve));
  await page.route('**/rows.js', (route) => seen.then(() => route.continue()));
  await page.goto(`${service.url}/rows`, { waitUntil: 'commit' });
  await expect(page.locator('#app')).toContainText('Loading …');
  hasSeen();
  await expect(page.locator('.list > *')).toHaveText([/Of Today/, 'yesterday', /Of Yesterday/]);
  for (const tab of ['Overview', 'Users', 'Refused', 'Rows']) {
    await page.getByRole('tab', { name: tab }).click();
    await expect(page).toHaveTitle(tab);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(tab);
  }
});

test('stands still while one reads, and brings what is new at a press', async ({
  page,
  service,
}) => {
  await service.store(...Array.from({ length: 60 }, (_, at) => incoming(`Old ${at}`)));
  await open(page, service);
  const at = () => row(page, 'Old 30').evaluate((one) => one.getBoundingClientRect().top);

  await row(page, 'Old 30').scrollIntoViewIfNeeded();
  await expect(live(page)).toContainText('Paused');
  const before = await at();
  await service.store(...Array.from({ length: 12 }, (_, nth) => incoming(`New ${nth}`)));
  await expect(newRows(page)).toHaveText(/12 new/);
  expect(await at()).toBe(before);
  await newRows(page).click();
  await expect(rows(page).first()).toContainText('New 11');
  await expect(live(page)).toContainText('Live');
  expect(await page.evaluate(() => scrollY)).toBe(0);

  // And with a row open, however the pointer goes.
  await row(page, 'New 11').getByRole('button', { name: 'Details' }).click();
  await page.mouse.move(5, 5);
  await service.store(incoming('Newer'));
  await expect(newRows(page)).toHaveText(/1 new/);
  await page.keyboard.press('n');
  await expect(rows(page).first()).toContainText('Newer');
  await expect(page.locator('.details')).toHaveCount(0);
});

test('keeps its filters in the address, through a reload and back', async ({ page, service }) => {
  const docs = incoming('Page Viewed', { project: 'docs', tags: { path: '/a' } });
  const many = ['Order Placed', 'Signed Up', 'Page Viewed'].map((name) => incoming(name));
  await service.store(...many, docs);
  await open(page, service);
  await expect(rows(page)).toHaveCount(4);

  await row(page, 'Page Viewed').getByRole('button', { name: 'Page Viewed' }).click();
  await page.getByRole('button', { name: 'Hide Page Viewed' }).click();
  await expect(rows(page)).toHaveCount(2);
  await row(page, 'Order Placed').getByRole('button', { name: 'Order Placed' }).click();
  await page.getByRole('button', { name: 'Only Order Placed' }).click();
  await expect(rows(page)).toHaveCount(1);
  expect(new URL(page.url()).search).toBe('?event=Order+Placed&not=Page+Viewed');

  await page.reload();
  await expect(rows(page)).toHaveCount(1);
  await expect(page.getByRole('list', { name: 'Filters that are on' })).toContainText(
    'Order Placed',
  );
  expect(await page.getByRole('link', { name: 'NDJSON' }).getAttribute('href')).toBe(
    'rows?event=Order+Placed&not=Page+Viewed&format=ndjson',
  );
  await page.goBack();
  await expect(rows(page)).toHaveCount(2);

  // What matches is shown as it comes, and nothing else.
  await service.store(incoming('Page Viewed'), incoming('Search', { tags: { query: 'socks' } }));
  await expect(rows(page)).toHaveCount(3);
  await page.getByRole('combobox', { name: 'Search' }).fill('SOCKS');
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('combobox', { name: 'Search' }).fill('no such thing');
  await expect(page.getByRole('heading', { name: 'No row matches' })).toBeVisible();
  await expect(page.locator('.no-match')).toContainText('no such thing');
  await page.getByRole('button', { name: 'Clear all filters' }).click();
  await expect(rows(page)).toHaveCount(6);
  expect(new URL(page.url()).search).toBe('');
});

test('counts what arrived by event, and shows the rows of a bar and of a name', async ({
  page,
  service,
}) => {
  const late = incoming('Late', { tags: { plan: 'pro' } }, { late: 134_000 });
  await service.store(late, incoming('Soon'), incoming('Soon', { project: 'docs' }));
  await service.store(late);
  await open(page, service);
  await page.getByRole('tab', { name: 'Overview' }).click();
  const ranked = page.locator('.ranking li');
  await expect(ranked.nth(0)).toContainText('Soon');
  await expect(ranked.nth(0)).toContainText('2');
  await expect(page.locator('.in_2s b')).toHaveText('2');
  await expect(page.locator('.in_1h b')).toHaveText('1');
  await expect(page.getByText('1 record came again')).toBeVisible();

  // By its table, without a pointer.
  await page.getByText('The numbers as a table').press('Enter');
  const newest = page.locator('.stack tbody tr').last();
  await newest.getByRole('button', { name: '1' }).press('Enter');
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText('Late');
  const query = new URL(page.url()).searchParams;
  expect([...query.keys()].sort()).toEqual(['event', 'from', 'to']);
  await page.goBack();

  // By its bars, which of the last ten minutes are from the rows themselves.
  await page.getByRole('button', { name: '10 min' }).click();
  await page.locator('.plot rect[data-at="0"]').last().click();
  await expect(rows(page)).toHaveCount(2);
  await page.goBack();
  await page.getByLabel('Project').selectOption('docs');
  await expect(ranked).toHaveCount(1);
  await ranked.getByRole('button', { name: 'Soon' }).click();
  await page.locator('.panel').getByRole('button', { name: 'Rows' }).click();
  await expect(rows(page)).toHaveCount(1);
  await expect(page.getByRole('list', { name: 'Filters that are on' })).toContainText('docs');
});

test('shows a user by visits, with what waited, and erases the user', async ({ page, service }) => {
  const user_id = 'mia@example.com';
  const waited = (event: string) => incoming(event, { user_id }, { late: 14 * 60_000 });
  await service.store(waited('Search'), waited('Page Viewed'), incoming('Bought', { user_id }));
  await service.post('/v1/identify', { project: 'shop', user_id, properties: { plan: 'pro' } });
  await service.store(incoming('Of Another', { user_id: 'ben' }));
  await open(page, service);
  await row(page, 'Bought').getByRole('button', { name: user_id }).click();
  await page.getByRole('button', { name: 'Open this user' }).click();
  await expect(page.getByRole('heading', { name: user_id })).toBeVisible();
  await expect(page.locator('.profile')).toContainText('pro');
  await expect(page.locator('.waited')).toContainText(
    '2 calls waited in the browser for up to 14 min',
  );
  await expect(page.locator('.visit')).not.toContainText('Of Another');
  // What comes is read, too.
  await service.store(incoming('Just Now', { user_id }));
  await expect(page.locator('.visit')).toContainText('Just Now');
  await page.reload();
  await expect(page.locator('.visit')).toContainText('Bought');
  const href = await page.getByRole('link', { name: 'Export' }).getAttribute('href');
  expect(href).toBe('rows?project=shop&user=mia%40example.com&format=ndjson');

  await page.getByRole('button', { name: 'Erase …' }).click();
  await page.getByRole('button', { name: 'Erase', exact: true }).click();
  await expect(page.getByText('Erased: 5 rows and the profile.')).toBeVisible();
  await expect(page.getByText('No rows of this user are stored.')).toBeVisible();
  await page.getByRole('button', { name: 'All users' }).click();
  await expect(page.getByRole('row', { name: 'ben' })).toBeVisible();
  await expect(page.locator('.users')).not.toContainText('mia@example.com');
});

test('filters by what is typed into one box, and by the tags of a row', async ({
  page,
  service,
}) => {
  const of = (event: string, plan: string, user_id: string) =>
    incoming(event, { user_id, tags: { plan } });
  await service.store(of('Signed Up', 'pro', 'mia'), of('Signed Up', 'free', 'ben'));
  await service.store(of('Left', 'pro', 'ben'));
  await open(page, service);
  const box = page.getByRole('combobox', { name: 'Search' });
  const active = page.getByRole('list', { name: 'Filters that are on' });
  await box.fill('event:Signed Up tag:plan=pro');
  await box.press('Enter');
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText('mia');
  await expect(active).toContainText('Signed Up');
  await expect(box).toHaveValue('');
  await active.getByRole('button', { name: /plan=pro/ }).click();
  await expect(rows(page)).toHaveCount(2);
  await row(page, 'ben').getByRole('button', { name: 'plan free' }).click();
  await page.getByRole('button', { name: 'Only with plan=free' }).click();
  await expect(rows(page)).toHaveCount(1);
  await page.getByLabel('Time').selectOption('Last hour');
  await expect(active).toContainText('since');
  await expect(rows(page)).toHaveCount(1);
});

test.describe('behind a token', () => {
  test.use({ readToken: 'the-token-of-readers' });

  test('asks for it, says that it is wrong, and shows the rows with the right one', async ({
    page,
    service,
    complaints,
  }) => {
    await service.store(incoming('Behind A Token'));
    await page.goto(`${service.url}/rows`);
    await expect(page.getByRole('heading', { name: 'These rows are locked' })).toBeVisible();
    const show = page.getByRole('button', { name: 'Show the rows' });
    await page.getByLabel('Read token').fill('wrong');
    await show.click();
    await expect(page.getByRole('alert')).toHaveText('The service does not know this token.');
    await page.getByLabel('Read token').fill('the-token-of-readers');
    await show.click();
    await expect(rows(page)).toContainText('Behind A Token');
    expect(page.url()).toBe(`${service.url}/rows`);
    // The browser itself prints each answer 401.
    expect(complaints.splice(0).filter((text) => !text.includes('401'))).toEqual([]);
  });

  test('shows one project alone to a token of that project, and offers it nothing to send again', async ({
    page,
    service,
    complaints,
  }) => {
    const refused = (project: string) => ({
      ...({ received_at: new Date().toISOString(), reason: 'database', status: 422 } as const),
      ...{ message: `out of range in ${project}`, project, record: incoming('Dead', { project }) },
    });
    await service.store(incoming('Of The Shop'));
    await service.refuse(refused('shop'), refused('docs'));
    await page.goto(`${service.url}/rows?token=the-token-of-readers-of-docs`);
    const waiting = page.getByRole('heading', { name: 'Waiting for the first row of docs' });
    await expect(waiting).toBeVisible();
    await service.store(incoming('Of The Docs', { project: 'docs' }), incoming('Of The Shop'));
    await expect(rows(page)).toContainText('Of The Docs');
    await expect(page.getByText('Of The Shop')).toHaveCount(0);
    await page.getByRole('tab', { name: 'Refused' }).click();
    await expect(page.getByText('out of range in')).toHaveText('out of range in docs');
    await expect(page.getByRole('button', { name: 'Send' })).toHaveCount(0);
    // Another project, by the address: it says why, and the way back.
    await page.goto(`${service.url}/rows?project=shop`);
    await expect(page.getByText('This token reads the project "docs" alone.')).toBeVisible();
    await page.getByRole('link', { name: 'without filters' }).click();
    await expect(rows(page)).toContainText('Of The Docs');
    expect(complaints.splice(0).filter((text) => !text.includes('403'))).toEqual([]);
  });
});

test('works under a path of a site, beside other services of the same host @firefox', async ({
  page,
  complaints,
}) => {
  const folders = [makeTempFolder(), makeTempFolder()];
  const tokens = ['a-token-of-the-first', 'a-token-of-the-second'];
  const services = await Promise.all(
    folders.map((folder, index) =>
      createRowsService(folder, {
        tag: '<script src="/outbox-auto.js" data-relay="/a"></script>',
        readToken: tokens[index]!,
        place: index ? '' : '/deep/in',
      }),
    ),
  );
  for (const [index, service] of services.entries()) {
    await page.goto(`${service.url}/rows`);
    await page.getByLabel('Read token').fill(tokens[index]!);
    await page.getByRole('button', { name: 'Show the rows' }).click();
    await expect(live(page)).toContainText('Live');
  }
  // The one still knows the browser after the other has let it in.
  const [{ url, store }] = services as [RowsService];
  await page.goto(`${url}/rows`);
  await expect(page.getByLabel('Tag', { exact: true })).toHaveText(
    '<script src="/deep/in/outbox-auto.js" data-relay="/deep/in/a"></script>',
  );
  await expect(page.getByLabel('Command')).toContainText(`${url}/v1/event`);
  await store(incoming('Under A Path'));
  await expect(rows(page)).toContainText('Under A Path');
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'CSV' }).click();
  expect((await download).url()).toBe(`${url}/rows?format=csv&bom=1`);
  // The browser itself prints each answer 401.
  expect(complaints.splice(0).filter((text) => !text.includes('401'))).toEqual([]);
  await Promise.all(services.map((service) => service.stop()));
  folders.forEach(removeTempFolder);
});

test('opens a row, moves and copies by keyboard alone', async ({ page, service, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await service.store(incoming('First'), incoming('Second'), incoming('Third', { user_id: 'u_1' }));
  await open(page, service);
  await expect(rows(page)).toHaveCount(3);
  const { keyboard } = page;

  await keyboard.press('/');
  await expect(page.getByRole('combobox', { name: 'Search' })).toBeFocused();
  await keyboard.press('Escape');
  await keyboard.press('j');
  await expect(rows(page).nth(0)).toBeFocused();
  await keyboard.press('j');
  await keyboard.press('ArrowDown');
  await expect(rows(page).nth(2)).toBeFocused();
  await keyboard.press('k');
  await keyboard.press('ArrowUp');
  await keyboard.press('Enter');
  const details = page.locator('.details');
  await expect(details).toContainText('Record id');
  await expect(details).toContainText('It came 1 s after the call.');
  await expect(details.getByRole('tabpanel')).toContainText('"event": "Third"');

  const copied = async (form: string): Promise<string> => {
    await details.getByRole('tab', { name: form }).focus();
    await details.getByRole('button', { name: 'Copy' }).press('Enter');
    await expect(details.getByRole('button', { name: 'Copied' })).toBeVisible();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  expect(JSON.parse(await copied('JSON'))).toMatchObject({ event: 'Third', user_id: 'u_1' });
  await details.getByRole('tab', { name: 'JSON' }).press('ArrowRight');
  await expect(details.getByRole('tab', { name: 'curl' })).toBeFocused();
  expect(await details.getByRole('tabpanel').textContent()).toContain('Bearer $TOKEN');

  await keyboard.press('Escape');
  await expect(details).toHaveCount(0);
  await expect(rows(page).nth(0)).toBeFocused();
  await keyboard.press('Escape');
  await expect(live(page)).toContainText('Live');
});

test('shows what was refused, why, and sends a dead letter again', async ({ page, service }) => {
  await service.store(incoming('Stored'));
  await open(page, service);
  await service.post('/v1/event', { project: 'shop', channel: 'web', event: 7 });
  await service.post('/v1/event', { project: 'shpo', channel: 'web', event: 'Typo' });
  // Refusals are stored a little later, and the dead letter is to be the newest.
  const tab = page.getByRole('tab', { name: 'Refused' });
  await expect(tab).toHaveText('Refused2');
  const record = incoming('Dead Letter');
  await service.refuse({
    ...{ received_at: record.receivedAt, reason: 'database', status: 422, isDead: true, record },
    ...{ message: 'value out of range', id: record.id, body: JSON.stringify(record.body) },
  });
  await expect(tab).toHaveText('Refused3');
  await tab.click();
  const refusals = page.locator('.refusal');
  await expect(refusals).toHaveCount(3);
  await expect(refusals.nth(0)).toContainText('value out of range');
  await expect(refusals.nth(1)).toContainText('403');
  await expect(refusals.nth(1)).toContainText('shpo');
  await expect(refusals.nth(2)).toContainText('A field is wrong');
  await expect(refusals.nth(2).getByLabel('What was sent')).toContainText('"event":7');
  await page.getByRole('button', { name: 'A field is wrong 1' }).click();
  await expect(refusals).toHaveCount(1);
  await page.getByRole('button', { name: 'All 3' }).click();

  await page.getByRole('button', { name: 'Send again' }).click();
  await expect(refusals.nth(0)).toContainText('It is stored now.');
  await page.getByRole('tab', { name: 'Rows' }).click();
  await expect(row(page, 'Dead Letter')).toBeVisible();
  await page.reload();
  await expect(page.getByRole('tab', { name: 'Refused' })).toHaveText('Refused2');
});

test('shows what strangers sent as text only, in one piece', async ({ page, service }) => {
  const script = '<script>window.hacked = 1</script>';
  await service.store(
    incoming('<img src=x onerror="window.hacked = 1">', {
      ...{ description: script, icon: '<b>', user_id: script, tags: { [script]: script } },
    }),
    incoming('\u200b'),
    incoming('\u202eevil', { user_id: '\u202euser', tags: { rtl: '\u2067txt.exe' } }),
    incoming('Book', { tags: { text: 'word '.repeat(12_000) } }),
    incoming(`Z${'\u0301'.repeat(500)}`, { description: 'a'.repeat(5_000) }),
    incoming('line\nbreak', { tags: JSON.parse('{ "__proto__": { "a": 1 }, "constructor": 2 }') }),
  );
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await open(page, service);
    await expect(rows(page)).toHaveCount(6);
    await expect(row(page, '<img')).toContainText('window.hacked');
    await expect(row(page, 'U+200B')).toBeVisible();
    await expect(row(page, 'U+202E')).toContainText('U+202Euser');
    // A row is as high as its neighbours, and a mark reaches no other row.
    const heights = await rows(page).evaluateAll((all) => all.map((one) => one.clientHeight));
    expect(Math.max(...heights)).toBeLessThan(width > 760 ? 40 : 80);
    for (const name of ['Book', '<img', 'U+202E', 'break']) {
      await row(page, name).getByRole('button', { name: 'Details' }).click();
      await expect(page.locator('.details')).toHaveCount(1);
      expect(await fits(page), `${name} at ${width}`).toBe(true);
    }
    await row(page, 'Book').getByRole('button', { name: 'Details' }).click();
    const text = page.locator('.tags-of dd');
    expect((await text.textContent())!.length).toBeLessThan(1_000);
    await text.getByRole('button', { name: /show all/ }).click();
    expect((await text.textContent())!.length).toBe(60_000);
    expect(await fits(page)).toBe(true);
  }
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
});

test('shows code from left to right, whatever the direction of the names and texts in it', async ({
  page,
  service,
}) => {
  const tags = { مفتاح: 'قيمة', שם: { עיר: 'חיפה', b: [1, 'גן'] }, plan: 'ذهبي' };
  await service.store(incoming('שלום', { description: 'ל"שלום"', user_id: 'أحمد', tags }));
  await open(page, service);
  await row(page, 'שלום').getByRole('button', { name: 'Details' }).click();
  /** Texts in quotes that are not to the right of the one before them on their line. */
  const astray = (code: Element) => {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    const places: [node: Node, at: number][] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (let at = 0; at < node.textContent!.length; at++) places.push([node, at]);
    const boxesOf = (from: number, to: number) => {
      const range = document.createRange();
      range.setStart(...places[from]!);
      range.setEnd(places[to]![0], places[to]![1] + 1);
      return range.getClientRects();
    };
    const texts = [...code.textContent!.matchAll(/"(?:\\.|[^"\\])*"/g)].map(
      ({ 0: text, index }) => ({
        text,
        boxes: boxesOf(index, index + text.length - 1),
      }),
    );
    return texts.filter(({ boxes }, i) => {
      const before = [...(texts[i - 1]?.boxes ?? [])].at(-1);
      return before?.top === boxes[0]!.top && boxes[0]!.left < before.right - 1;
    });
  };
  for (const form of ['JSON', 'curl']) {
    await page.getByRole('tab', { name: form }).click();
    expect(await page.locator('.details pre').evaluate(astray), form).toEqual([]);
  }
  for (const value of await page.locator('.tags-of .of-object').all())
    expect(await value.evaluate(astray)).toEqual([]);
});

test('leaves nothing out of a burst, and draws a part of it', async ({ page, service }) => {
  await service.store(incoming('Before'));
  await open(page, service);
  await expect(rows(page)).toHaveCount(1);
  const all = Array.from({ length: 800 }, (_, at) => incoming(`Burst ${at}`));
  for (let at = 0; at < all.length; at += 100) await service.store(...all.slice(at, at + 100));
  await expect(rows(page).first()).toContainText('Burst 799');
  const found = new Set(await seqsOf(page));
  expect(found.size).toBe(50);
  // Down to the first row of all, with no more than 500 in the document at a time.
  await expect(async () => {
    for (const seq of await seqsOf(page)) found.add(seq);
    expect(await rows(page).count()).toBeLessThanOrEqual(500);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await expect(page.locator('.foot')).toContainText('That is the first row', { timeout: 50 });
  }).toPass({ intervals: [50] });
  for (const seq of await seqsOf(page)) found.add(seq);
  expect(found.size).toBe(801);
  // And up again.
  await expect(async () => {
    await page.evaluate(() => scrollTo(0, 0));
    await expect(rows(page).first()).toContainText('Burst 799', { timeout: 50 });
  }).toPass({ intervals: [50] });
});

test('says that the line is lost, and goes on behind it with nothing left out', async ({
  page,
  service,
  complaints,
}) => {
  await service.store(incoming('Before'));
  await open(page, service);
  await service.away(async () => {
    await expect(live(page)).toContainText('Lost the connection');
    await expect(live(page)).toContainText(/trying again in \d+ s|Connecting/);
  });
  await service.store(...Array.from({ length: 300 }, (_, at) => incoming(`Meanwhile ${at}`)));
  await expect(live(page)).toContainText('Live');
  await expect(rows(page).first()).toContainText('Meanwhile 299');
  await expect(page.locator('.foot')).toContainText('of 301 that this page keeps');
  // The browser's own words about requests that failed.
  expect(complaints.splice(0).every((text) => text.startsWith('Failed to load resource'))).toBe(
    true,
  );
});

test('has nothing that axe finds, light and dark, wide and narrow', async ({ page, service }) => {
  const check = async (what: string): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const isLight = colorScheme === 'light';
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width: isLight ? 1440 : 390, height: 900 });
      const found = await axeFinds(page, isLight ? {} : { rules: COLOURS });
      expect(found, `${what}, ${colorScheme}`).toEqual([]);
      expect(await fits(page), `${what}, ${colorScheme}`).toBe(true);
    }
  };
  await open(page, service);
  await service.post('/v1/event', {}, 'wrong');
  await expect(page.locator('.failing')).toHaveCount(1);
  await check('waiting');

  const record = incoming('Dead', { tags: { a: 1 } });
  await service.refuse({
    ...{ received_at: record.receivedAt, reason: 'database', status: 422, isDead: true },
    ...{ message: 'out of range', record, body: JSON.stringify(record.body) },
  });
  const tags = { n: 1, s: 'x' };
  const more = { icon: '📚', description: 'by card', user_id: 'user_42', tags };
  const late = incoming('Order Placed', more, { late: 134_000 });
  await service.store(late, incoming('Order Placed', more), incoming('Signed Up', more));
  await expect(rows(page)).toHaveCount(3);
  await row(page, 'Order Placed').getByRole('button', { name: 'Details' }).click();
  await service.store(incoming('Newer'));
  await expect(newRows(page)).toBeVisible();
  await check('one row open');
  await page.getByRole('tab', { name: 'Refused' }).click();
  await expect(page.locator('.refusal')).toHaveCount(2);
  await check('refused');
  await page.getByRole('tab', { name: 'Overview' }).click();
  await page.getByText('The numbers as a table').click();
  await expect(page.locator('.stack table')).toBeVisible();
  await check('overview');
  await page.getByRole('tab', { name: 'Users' }).click();
  await page.getByRole('searchbox', { name: 'Find a user' }).fill('user_4');
  await expect(page.locator('.users tbody tr')).toHaveCount(1);
  await check('users');
  await page.getByRole('button', { name: 'user_42' }).click();
  await expect(page.locator('.visit')).toHaveCount(1);
  await check('a user');
  await page.goto(`${service.url}/rows?text=nothing&event=A&not=B`);
  await expect(page.getByRole('heading', { name: 'No row matches' })).toBeVisible();
  await check('no match');
});
