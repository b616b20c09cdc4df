import AxeBuilder from '@axe-core/playwright';
import type { Locator, Page } from '@playwright/test';
import { join } from 'node:path';
import type { EventRow } from '../demo/page/database/service-client.js';
import { announcementOf } from '../demo/site/announcement.js';
import { startDemo, type RunningDemo } from '../demo/site/start-demo.js';
import { htmlPage, inline } from './support/html.js';
import { test as base, expect } from './support/test.js';

const anyPort = { port: 0, nextFree: false };
const TOKEN = 'a-token-to-be-found';

const test = base.extend<{ demo: RunningDemo }>({
  demo: [
    async ({ folder }, use) => {
      const database = join(folder, 'demo.db');
      const demo = await startDemo({ page: anyPort, service: anyPort, database, token: TOKEN });
      await use(demo);
      await demo.close();
    },
    // Begun before the page, and so ended after it: a page whose service is gone complains on the console.
    { auto: true },
  ],
});

const eventsOf = async ({ service }: RunningDemo): Promise<EventRow[]> => {
  const response = await fetch(`${service.url}/_/events`);
  return ((await response.json()) as { events: EventRow[] }).events;
};

const count = (page: Page, name: string): Locator => page.locator(`[data-count="${name}"] dd`);
const status = (page: Page, name: string): Locator => page.locator(`[data-status="${name}"]`);
const records = (page: Page): Locator => page.locator('#records tr');
const toast = (page: Page): Locator => page.locator('#toast');
const press = (page: Page, scene: string): Promise<void> =>
  page.locator(`form[data-scene="${scene}"] button`).click();

/** Whether its first and last line can be seen: inside the window, with nothing above them. */
const isInSight = (wanted: Locator): Promise<boolean> =>
  wanted.evaluate((element) => {
    const { left, top, bottom, height } = element.getBoundingClientRect();
    const isOnTop = (y: number) => {
      const found = document.elementFromPoint(left + 12, y);
      return !!found && element.contains(found);
    };
    return height > 0 && isOnTop(top + 3) && isOnTop(bottom - 3);
  });

/** What holds more than it shows, in the page. */
const overflowing = (): string[] =>
  [...document.querySelectorAll<HTMLElement>('html, body *:not(.sr-only)')]
    .filter(
      (element) =>
        element.scrollWidth > element.clientWidth + 1 ||
        (element !== document.documentElement && element.scrollHeight > element.clientHeight + 1),
    )
    .filter((element) => /auto|scroll/.test(getComputedStyle(element).overflow))
    .map(({ tagName, id, className }) => `${tagName}#${id}.${className}`);

/** All calls made so far are in the database once, by the page's own account and by the database. */
const expectOnce = async (page: Page, demo: RunningDemo, wanted: number): Promise<void> => {
  await expect(count(page, 'once')).toHaveText(String(wanted), { timeout: 20_000 });
  await expect(count(page, 'waiting')).toHaveText('0');
  await expect(count(page, 'wrong')).toHaveText('0');
  const ids = (await eventsOf(demo)).map(({ tags }) => tags['demo_id']);
  expect(ids).toHaveLength(wanted);
  expect(new Set(ids).size).toBe(wanted);
};

test('opens under its strict policy without a word in the console @smoke', async ({
  page,
  demo,
}) => {
  const response = await page.goto(demo.url);
  const policy = response?.headers()['content-security-policy'];
  expect(policy).toContain(`connect-src 'self' ${demo.service.url};`);
  expect(policy).toMatch(/script-src 'self' 'nonce-[^']+';/);
  await expect(page.locator('#health')).toHaveText('Service healthy');
  await expect(status(page, 'storage')).toHaveText(/IndexedDB|opening/);
  await expect(page.locator('#records-empty')).toBeVisible();
});

test('reaches the service by the host name it was opened with', async ({ page, demo }) => {
  await page.goto(`http://localhost:${demo.port}`);
  await press(page, 'burst');
  await expectOnce(page, demo, 50);
  expect(await page.evaluate(() => document.querySelector('#tag')?.outerHTML)).toContain(
    `data-base-url="http://localhost:${demo.service.port}"`,
  );
});

test('shows at once what a page of one’s own sends by the tag that `npm start` prints', async ({
  page,
  context,
  guest,
  demo,
  site,
}) => {
  guest.allow(/nothing is captured locally/); // an automated browser
  const printed = announcementOf(demo, { host: undefined, database: 'x.db' });
  const [tag] = /<script [^]*?<\/script>/.exec(printed)!;
  const [rows] = /http\S+\/rows$/m.exec(printed)!;
  const own = await context.newPage();
  await own.goto(
    site.page('/', htmlPage({ head: tag, body: inline(`analytics.event('From My Page')`) })),
  );
  const feed = await context.newPage();
  await feed.goto(rows);
  await expect(feed.getByText('From My Page')).toBeVisible();
  await feed.close();

  // A scene deletes only what the demo has made.
  await page.goto(demo.url);
  await press(page, 'burst');
  await expect(count(page, 'once')).toHaveText('50');
  await press(page, 'burst');
  await expect(count(page, 'made')).toHaveText('50');
  await expect(count(page, 'once')).toHaveText('50');
  const events = async () => (await eventsOf(demo)).map(({ event }) => event);
  await expect.poll(async () => (await events()).length).toBe(51);
  expect(await events()).toContain('From My Page');
});

test('sends an event with every field by keyboard alone, and shows it stored once', async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  const { keyboard } = page;
  const next = () => keyboard.press('Tab');
  const write = async (text: string) => {
    await next();
    await keyboard.press('ControlOrMeta+A');
    await keyboard.insertText(text);
  };
  await next();
  await keyboard.press('Enter'); // to the forms
  await write('Plan Changed');
  await write('growth');
  await write('🚀');
  await write('from the keyboard');
  await write('{ "plan": "team" }');
  await next();
  await keyboard.press('ArrowDown');
  await keyboard.press('ArrowDown'); // another user
  await write('user_7');
  await next();
  await keyboard.type('01022026'); // month, day, year
  await keyboard.press('ArrowRight');
  await keyboard.type('030405AM');
  while (!(await page.evaluate(() => document.activeElement?.matches('[name=notify]')))) {
    await next();
  }
  await keyboard.press('Space');
  await next();
  await keyboard.press('Enter');

  await expect(records(page)).toHaveCount(1);
  await expect(records(page)).toContainText('Plan Changed');
  await expect(records(page)).toContainText('once');
  await expect(page.locator('#rows tr')).toHaveCount(1);
  await expectOnce(page, demo, 1);
  expect(await eventsOf(demo)).toMatchObject([
    {
      event: 'Plan Changed',
      channel: 'growth',
      icon: '🚀',
      description: 'from the keyboard',
      tags: { plan: 'team' },
      user_id: 'user_7',
      notify: true,
      timestamp: await page.evaluate(() => new Date('2026-01-02T03:04:05').toISOString()),
    },
  ]);
});

test('says beside a field what is wrong in it, and calls nothing', async ({ page, demo }) => {
  await page.goto(demo.url);
  const tags = page.getByLabel('Tags');
  await tags.fill('{ plan: pro }');
  await page.getByRole('button', { name: 'Send event' }).click();
  await expect(tags).toBeFocused();
  await expect(tags).toHaveAttribute('aria-invalid', 'true');
  await expect(tags).toHaveAccessibleDescription(/Write a JSON object/);
  await tags.fill('{ "plan": "pro" }');
  await expect(tags).not.toHaveAttribute('aria-invalid');
  await expect(page.locator('#event-tags-error')).toBeEmpty();
  await expect(count(page, 'made')).toHaveText('0');
});

test('stamps events with the identified user until it is reset', async ({ page, demo }) => {
  await page.goto(demo.url);
  const send = page.getByRole('button', { name: 'Send event' });
  await page.getByRole('button', { name: 'Identify' }).click();
  await expect(status(page, 'user')).toHaveText('user_1');
  await send.click();
  await page.getByRole('button', { name: 'Reset identity' }).click();
  await send.click();
  await expect(count(page, 'once')).toHaveText('3');
  const users = (await eventsOf(demo)).map(({ user_id }) => user_id);
  expect(users).toHaveLength(2);
  expect(users).toEqual(expect.arrayContaining(['user_1', null]));
});

test('plays a server error, and ends with each record stored once', async ({ page, demo }) => {
  await page.goto(demo.url);
  await page.getByLabel('Number of requests answered 500').fill('2');
  await press(page, 'error');
  await expectOnce(page, demo, 10);
  await expect(page.locator('#log li', { hasText: 'retry (500)' })).toHaveCount(2);
  await expect(page.locator('#health')).toHaveText('Service healthy');
});

test('keeps what a refused token holds up, until the service is healed', async ({ page, demo }) => {
  await page.goto(demo.url);
  await press(page, 'token');
  await expect(status(page, 'delivery')).toHaveText('set-up refused');
  await expect(count(page, 'waiting')).toHaveText('10');
  await page.getByRole('button', { name: 'Heal the service' }).click();
  await expectOnce(page, demo, 10);
});

test('drops the one record that is refused, and shows why', async ({ page, demo }) => {
  await page.goto(demo.url);
  await press(page, 'refuse');
  await expect(count(page, 'dropped')).toHaveText('1');
  await expectOnce(page, demo, 9);
  await expect(records(page).filter({ hasText: 'dropped, rejected' })).toHaveCount(1);
  await press(page, 'wrong');
  await expect(count(page, 'dropped')).toHaveText('3');
  await expect(status(page, 'dropped')).toContainText('1 not-serializable');
});

test('leaves with 20 waiting, and shows them stored once after coming back', async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  await expect(status(page, 'storage')).toHaveText('IndexedDB');
  await press(page, 'leave');
  await page.getByRole('link', { name: 'Go back' }).click();
  await expectOnce(page, demo, 20);
});

test('hands nothing off while it backs off, as its farewell says', async ({ page, demo }) => {
  await page.goto(demo.url);
  await expect(status(page, 'storage')).toHaveText('IndexedDB');
  await page.locator('form[data-scene="limit"] input').fill('60');
  await press(page, 'limit');
  await expect(status(page, 'delivery')).toHaveText('backing off');
  await page.getByRole('button', { name: 'Send event' }).click();
  await page.evaluate(() => location.assign('/away'));
  await expect(page.getByRole('main')).toContainText(
    'waits in the outbox, as does everything while the page is offline or backing off',
  );
  await page.getByRole('link', { name: 'Go back' }).click();
  await expect(status(page, 'delivery')).toHaveText('backing off');
  const handedOff = (await eventsOf(demo)).filter(({ event }) => event === 'Signed Up');
  expect(handedOff).toEqual([]);
});

test('counts as unknown what a slow service answers too late, and shows it stored once', async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  await expect(status(page, 'storage')).toHaveText('IndexedDB');
  await press(page, 'slow');
  await page.getByRole('link', { name: 'Go back' }).click();
  await expect(status(page, 'unknown')).toHaveText('5');
  await expectOnce(page, demo, 5);
});

test('goes on when the outbox is killed, and opens another', async ({ page, demo }) => {
  await page.goto(demo.url);
  await expect(status(page, 'storage')).toHaveText('IndexedDB');
  await press(page, 'outbox');
  await expectOnce(page, demo, 10);
  await expect(status(page, 'storage')).toHaveText('IndexedDB');
});

test('shows the calls of another tab too, and clears for both', async ({ page, context, demo }) => {
  await page.goto(demo.url);
  const other = await context.newPage();
  await other.goto(demo.url);
  await press(other, 'burst');
  await expectOnce(other, demo, 50);
  await page.bringToFront();
  await expectOnce(page, demo, 50);
  await page.getByRole('button', { name: 'Clear the database' }).click();
  for (const tab of [page, other]) {
    await expect(count(tab, 'made')).toHaveText('0');
    await expect(tab.locator('#rows-empty')).toBeVisible();
  }
});

test('delivers through the relay, many records a request, without a token in the page @smoke', async ({
  page,
  demo,
}) => {
  const seen: string[] = [];
  const batches: string[] = [];
  page.on('response', async (response) => {
    if (!response.url().startsWith(demo.url)) return;
    if (response.url().endsWith('/v1/batch')) batches.push(response.url());
    else seen.push(await response.text().catch(() => ''));
  });
  await page.goto(`${demo.url}/relay`);
  await press(page, 'burst');
  await expectOnce(page, demo, 50);
  expect(batches).toEqual([`${demo.url}/a/v1/batch`]);
  const kept = await page.evaluate(
    () => document.documentElement.outerHTML + JSON.stringify({ ...localStorage }),
  );
  expect(seen.length).toBeGreaterThan(3);
  expect([...seen, kept].filter((text) => text.includes(TOKEN))).toEqual([]);
});

test('stores once through the relay what is answered to nobody', async ({ page, demo }) => {
  await page.goto(`${demo.url}/relay`);
  await press(page, 'lost-answer');
  await expectOnce(page, demo, 10);
  await expect(status(page, 'delivered')).toHaveText('10'); // the answer of the repeat, too
  await press(page, 'slow');
  await page.waitForURL(`${demo.url}/relay/away`);
  await page.getByRole('link', { name: 'Go back' }).click();
  await page.waitForURL(`${demo.url}/relay`);
  await expectOnce(page, demo, 5);
});

/** Sizes of a desktop, a tablet and a phone. */
const SIZES = [
  { width: 1440, height: 900 },
  { width: 820, height: 1180 },
  { width: 390, height: 844 },
];

test('sends at once what waits when the service is healed', async ({ page, demo }) => {
  await page.goto(demo.url);
  await page.getByLabel('Number of requests answered 500').fill('50');
  await press(page, 'error');
  await expect(status(page, 'delivery')).toHaveText('backing off');
  await page.getByRole('button', { name: 'Heal the service' }).click();
  await expect(toast(page)).toHaveText('The service is well again. What waits is sent now.');
  await expectOnce(page, demo, 10);
  await page.getByRole('button', { name: 'Heal the service' }).click();
  await expect(toast(page)).toHaveText('The service is well again. Nothing waits.');
});

test('says that what waits is sent now where a new token lets it go', async ({ page, demo }) => {
  await page.goto(demo.url);
  await press(page, 'token');
  await expect(status(page, 'delivery')).toHaveText('set-up refused');
  await page.getByRole('button', { name: 'Heal the service' }).click();
  // A wait that has begun is over within seconds: the words are those of that moment.
  await expect(toast(page)).toHaveText(/^The service is well again\. /);
  await expectOnce(page, demo, 10);
});

test('clears the scene before at each press', async ({ page, demo }) => {
  await page.goto(demo.url);
  await press(page, 'refuse');
  await expectOnce(page, demo, 9);
  await expect(page.locator('#health')).toHaveAttribute('data-health', 'faulty');
  await press(page, 'burst');
  await expectOnce(page, demo, 50);
  await expect(count(page, 'made')).toHaveText('50');
  await expect(count(page, 'dropped')).toHaveText('0');
  await expect(page.locator('#health')).toHaveText('Service healthy');
});

/** The scenes that hold records up, each with what the status says then. */
const HELD_UP = {
  token: 'set-up refused',
  limit: 'backing off',
  unplug: /backing off|unreachable/,
};
for (const [scene, paused] of Object.entries(HELD_UP)) {
  test(`begins with a new tracker after “${scene}”: nothing waits, nothing pauses`, async ({
    page,
    demo,
  }) => {
    await page.goto(demo.url);
    await page.getByRole('button', { name: 'Identify' }).click();
    await expect(status(page, 'delivered')).toHaveText('1');
    await page.getByLabel('Retry-After in seconds').fill('60');
    await press(page, scene);
    await expect(status(page, 'delivery')).toHaveText(paused);
    await press(page, 'burst');
    await expectOnce(page, demo, 50);
    await expect(count(page, 'made')).toHaveText('50');
    await expect(status(page, 'delivered')).toHaveText('50');
    await expect(status(page, 'delivery')).toHaveText('open');
    await expect(page.locator('#log li', { hasText: /retry|blocked/ })).toHaveCount(0);
    // The visitor is the same.
    await expect(status(page, 'user')).toHaveText('user_1');
    // Nor does a later page find anything of the scene before.
    await page.reload();
    await expect(count(page, 'once')).toHaveText('50');
    await expectOnce(page, demo, 50);
  });
}

test('leaves the records of another tab alone as a scene begins', async ({
  page,
  context,
  demo,
}) => {
  await page.goto(demo.url);
  await press(page, 'token');
  await expect(status(page, 'delivery')).toHaveText('set-up refused');
  const other = await context.newPage();
  await other.goto(demo.url);
  await press(other, 'burst');
  await expect(count(other, 'made')).toHaveText('60');
  await page.bringToFront();
  await page.getByRole('button', { name: 'New token, go on' }).click();
  await expectOnce(page, demo, 60);
});

test('plays one scene after the other, however fast the presses come', async ({ page, demo }) => {
  await page.goto(demo.url);
  await expect(page.locator('#health')).toHaveText('Service healthy');
  await page.evaluate(() => {
    const button = document.querySelector<HTMLElement>('form[data-scene="burst"] button')!;
    for (let i = 0; i < 5; i++) button.click();
  });
  await expect(toast(page)).toContainText('50 calls made');
  await expect(count(page, 'made')).toHaveText('50');
  await expect(count(page, 'once')).toHaveText('50');
  await expect(count(page, 'waiting')).toHaveText('0');
  await expect(count(page, 'wrong')).toHaveText('0');
});

test('counts down to the next attempt beside what is on the way', async ({ page, demo }) => {
  await page.goto(demo.url);
  const countdown = page.locator('[data-count="waiting"] dt');
  await expect(countdown).toHaveText('On the way', { useInnerText: true });
  await page.getByLabel('Retry-After in seconds').fill('30');
  await press(page, 'limit');
  await expect(countdown).toHaveText(/^On the way next try in [2-4]\d s$/, { useInnerText: true });
  const seconds = async () => Number(/in (\d+)/.exec(await countdown.innerText())![1]);
  const first = await seconds();
  await expect.poll(seconds).toBeLessThan(first);
  await press(page, 'burst');
  await expectOnce(page, demo, 50);
  await expect(page.locator('#next-attempt')).toBeHidden();
});

test('says for four seconds what a button has done', async ({ page, demo }) => {
  await page.goto(demo.url);
  await expect(page.locator('#health')).toHaveText('Service healthy');
  const shown = page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const toast = document.querySelector('#toast')!;
        let since = 0;
        new MutationObserver(() => {
          if (toast.textContent) since = performance.now();
          else if (since) resolve(performance.now() - since);
        }).observe(toast, { childList: true });
      }),
  );
  await page.getByRole('button', { name: 'Send event' }).click();
  expect(await shown).toBeGreaterThan(3_900);
  expect(await shown).toBeLessThan(5_500);
});

test('never has its toast over an error that came later', async ({ page, demo }) => {
  await page.goto(demo.url);
  const send = page.getByRole('button', { name: 'Send event' });
  const name = page.getByLabel('Name', { exact: true });
  const error = page.locator('#event-name-error');
  await send.click();
  await expect(toast(page)).toContainText('Called event');
  await name.fill('');
  await send.click();
  await expect(error).toHaveText('Give the event a name.');
  expect(await toast(page).textContent()).toBe('');

  // Nor does one come from what was begun before the error, and ends after it.
  await expect(count(page, 'once')).toHaveText('1');
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/_/records', async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Clear the database' }).click();
  await send.click();
  const cleared = page.waitForResponse('**/_/records');
  release();
  await (await cleared).finished();
  await expect(count(page, 'made')).toHaveText('0');
  expect(await toast(page).textContent()).toBe('');
  await expect(error).toHaveText('Give the event a name.');
});

test('says each time that a new token was refused again', async ({ page, demo }) => {
  await page.goto(demo.url);
  await press(page, 'token');
  await expect(status(page, 'delivery')).toHaveText('set-up refused');
  const refused = page.locator('#log li', { hasText: 'blocked (401)' });
  for (let i = 0; i < 3; i++) {
    const before = await refused.count();
    await page.getByRole('button', { name: 'New token, go on' }).click();
    await expect.poll(() => refused.count()).toBeGreaterThan(before);
    await expect(toast(page)).toHaveText(
      'The tracker has a new token, and was refused again. What waits is kept.',
    );
  }
  await page.getByRole('button', { name: 'Heal the service' }).click();
  await expectOnce(page, demo, 10);
});

test('links to the README, the docs and all rows', async ({ page, demo, request }) => {
  await page.goto(demo.url);
  const links = await page
    .getByRole('link')
    .evaluateAll((all) => (all as HTMLAnchorElement[]).map(({ href }) => href));
  expect(links).toEqual(
    expect.arrayContaining([`${demo.url}/README.md`, `${demo.url}/docs/usage.md`]),
  );
  for (const link of links) expect((await request.get(link)).status(), link).toBe(200);
  await page.getByRole('link', { name: 'README' }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('analytics-outbox');
});

test('shows all documents, and each of their links leads to a document and a heading', async ({
  page,
  demo,
}) => {
  const seen = new Map<string, Set<string>>();
  const links: string[] = [];
  const unseen = [`${demo.url}/README.md`];
  for (const url of unseen) {
    const answer = await page.goto(url);
    expect(answer?.status(), url).toBe(200);
    if (!answer?.headers()['content-type']?.startsWith('text/html')) continue;
    await expect(page, url).toHaveTitle(/^[^{]+ – analytics-outbox$/);
    await expect(page.getByRole('heading', { level: 1 }), url).toHaveCount(1);
    const found = await page.evaluate(() => ({
      ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
      hrefs: [...document.querySelectorAll<HTMLAnchorElement>('main a')].map(({ href }) => href),
      isTooWide: document.documentElement.scrollWidth > innerWidth,
    }));
    expect(found.isTooWide, url).toBe(false);
    seen.set(url, new Set(found.ids));
    for (const link of found.hrefs.filter((href) => href.startsWith(`${demo.url}/`))) {
      links.push(link);
      const document = link.replace(/#.*/, '');
      if (!unseen.includes(document)) unseen.push(document);
    }
  }
  expect(seen.size).toBeGreaterThan(20);
  for (const [url, heading] of links.map((link) => link.split('#') as [string, string?]))
    if (heading) expect(seen.get(url), url).toContain(decodeURIComponent(heading));
});

test('plays a scene offline, and delivers it afterwards', async ({ page, context, demo }) => {
  await page.goto(demo.url);
  await expect(page.locator('#health')).toHaveText('Service healthy');
  await context.setOffline(true);
  await press(page, 'burst');
  await expect(count(page, 'waiting')).toHaveText('50');
  await context.setOffline(false);
  await expectOnce(page, demo, 50);
});

test('does not claim to have called what consent has dropped', async ({ page, demo }) => {
  await page.goto(demo.url);
  const send = page.getByRole('button', { name: 'Send event' });
  await page.getByLabel('Denied').check();
  await send.click();
  await expect(toast(page)).toHaveText('Event “Signed Up” was dropped: consent-denied.');
  await page.getByRole('button', { name: 'Identify' }).click();
  await expect(toast(page)).toHaveText('Identify “user_1” was dropped: consent-denied.');
  await press(page, 'burst');
  await expect(toast(page)).toHaveText('Consent is denied: calls are dropped.');
  await expect(count(page, 'dropped')).toHaveText('50');
  await page.getByLabel('Granted').check();
  await send.click();
  await expect(toast(page)).toHaveText(/^Called event “Signed Up” as /);
});

test('promises in its head no more than its scenes keep', async ({ page, demo }) => {
  await page.goto(demo.url);
  const head = page.locator('header');
  await press(page, 'lost-answer');
  await expect(count(page, 'wrong')).toHaveText('1', { timeout: 20_000 });
  await expect(head).toContainText('may be stored twice');
  await expect(head).not.toContainText('exactly once');
  await page.goto(`${demo.url}/relay`);
  await expect(head).toContainText('stored once, even where an answer is lost');
  await expect(head.getByText('may be stored twice')).toBeHidden();
});

for (const size of SIZES) {
  test(`shows a wrong field clear of the bar and the proof, ${size.width} wide`, async ({
    page,
    demo,
  }) => {
    await page.setViewportSize(size);
    await page.goto(demo.url);
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('');
    const send = page.getByRole('button', { name: 'Send event' });
    // Under the bar, where a browser by itself takes it for visible.
    await name.evaluate((field) => scrollBy(0, field.getBoundingClientRect().y - 30));
    await expect.poll(() => isInSight(name)).toBe(false);
    await send.click();
    await expect(name).toBeFocused();
    for (const seen of [name, page.locator('#event-name-error'), page.locator('[for=event-name]')])
      await expect.poll(() => isInSight(seen)).toBe(true);
  });

  test(`has its farewell in the middle, ${size.width} wide`, async ({ page, demo }) => {
    await page.setViewportSize(size);
    for (const path of ['/away', '/relay/away']) {
      await page.goto(demo.url + path);
      const box = (await page.getByRole('main').boundingBox())!;
      expect(box.width).toBeGreaterThan(Math.min(size.width - 40, 500));
      expect(Math.abs(box.x + box.width / 2 - size.width / 2)).toBeLessThan(2);
      // One below the other.
      const parts = await page
        .getByRole('main')
        .evaluate((main) => [...main.children].map((child) => child.getBoundingClientRect().x));
      expect(new Set(parts).size).toBe(1);
    }
  });
}

test(`shows the proof beside every scene, ${SIZES.map(({ width }) => width).join(', ')} wide`, async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  await press(page, 'burst');
  await expectOnce(page, demo, 50);
  const proof = [records(page).first(), page.locator('#rows tr').first()];
  for (const seen of proof) expect(await isInSight(seen)).toBe(true);
  await expect(toast(page)).toBeEmpty();
  const actions = page.locator('form[data-scene] button, #start-over');
  expect(await actions.count()).toBe(13);
  const identify = page.getByRole('button', { name: 'Identify' });
  for (const size of SIZES) {
    await page.setViewportSize(size);
    for (const action of [...(await actions.all()), identify]) {
      await action.scrollIntoViewIfNeeded();
      await action.focus();
      for (const seen of [action, ...proof]) expect(await isInSight(seen)).toBe(true);
    }
    // No text is cut off, and nothing scrolls but the page, downwards.
    expect(await page.evaluate(overflowing)).toEqual([]);
    await page.getByRole('button', { name: 'Show all records' }).click();
    await expect(records(page)).toHaveCount(50);
    await expect(records(page).last()).toBeVisible();
    expect(await page.evaluate(overflowing)).toEqual([]);
    await page.getByRole('button', { name: 'Show fewer records' }).click();
    await expect(records(page).last()).toBeHidden();
  }
});

test('shows its proof without a scroll when it is opened on a desktop', async ({ page, demo }) => {
  await page.setViewportSize(SIZES[0]!);
  await page.goto(demo.url);
  await press(page, 'burst');
  await expectOnce(page, demo, 50);
  await page.evaluate(() => scrollTo(0, 0));
  for (const row of [records(page).nth(9), page.locator('#rows tr').nth(4)])
    await expect.poll(() => isInSight(row)).toBe(true);
});

test('has nothing for axe to find, light and dark', async ({ page, demo, guest }) => {
  guest.allowGlobals('axe', '__core-js_shared__'); // axe's own
  const expectNothing = async (): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const axe = new AxeBuilder({ page });
      // All else is the same in both.
      if (colorScheme === 'dark') axe.withRules('color-contrast');
      const { violations } = await axe.analyze();
      expect(
        violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`)),
        colorScheme,
      ).toEqual([]);
    }
  };
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(demo.url);
  await expect(page.locator('#health')).toHaveText('Service healthy');
  await expectNothing();

  await press(page, 'wrong');
  await press(page, 'error');
  await page.getByLabel('Tags').fill('not JSON');
  await page.getByRole('button', { name: 'Send event' }).click();
  await page.getByText('The tag of this page').click();
  await expect(records(page)).toHaveCount(10);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNothing();
  await page.goto(`${demo.url}/away`);
  await expectNothing();
  await page.goto(`${demo.url}/relay`);
  await expectNothing();
  await page.goto(`${demo.url}/docs/limits.md`);
  await expectNothing();
});
