import { lastShown, tellsLastShown } from './support/last-shown.js';
import { BARE } from './support/leave.js';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';

// What the other tests rely on to fail: that a stray record, a trace in a page and a lost cache are seen.

test('the service says what came never, once and twice', async ({ service }) => {
  for (const event of ['fine', 'double', 'double', 'stray']) {
    await fetch(`${service.url}/v1/event`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ project: PROJECT, channel: CHANNEL, event }),
    });
  }
  await expect(service.holds({ events: ['fine', 'double', 'missing'] })).rejects.toThrow(
    [
      '  fine     came once      wanted once',
      '+ double   came twice     wanted once',
      '- missing  came never     wanted once',
      '+ stray    came once      wanted never',
    ].join('\n'),
  );
});

test('the guest sees console lines, errors, rejections and globals @smoke', async ({
  page,
  guest,
  site,
}) => {
  const script = `
    console.debug('a line');
    setTimeout(() => { throw new Error('an error') });
    Promise.reject(new Error('a rejection'));
    addEventListener('unhandledrejection', (event) => event.preventDefault());
    Promise.reject(new Error('a muted rejection'));
    var leaked = 1;
  `;
  await page.goto(site.page('/a.html', `${BARE}<script>${script}</script>`));
  const problems = async () => {
    await guest.inspect(page.context());
    return guest.problems().join('\n');
  };
  await expect.poll(problems).toMatch(/muted/);
  for (const problem of [
    'console.debug: a line',
    'page error: an error',
    'unhandled rejection: Error: a rejection',
    'unhandled rejection: Error: a muted rejection',
    'new global `leaked`',
  ])
    expect(await problems()).toContain(problem);
  expect(() => guest.verify()).toThrow('Not a good guest');
  guest.allow(/./);
  guest.verify();
});

test('turns off in Chromium all that Playwright does, and more', async ({
  playwright,
  browserName,
  launchOptions,
}) => {
  const server = await playwright[browserName].launchServer(launchOptions);
  const [theirs, ours, ...others] = (server.process().spawnargs ?? [])
    .filter((argument) => argument.startsWith('--disable-features='))
    .map((argument) => argument.slice('--disable-features='.length).split(','));
  await server.close();
  expect(others).toEqual([]);
  expect(ours).toEqual(expect.arrayContaining([...theirs!, 'WebUIOmniboxPopup']));
});

test('a page comes back from the back/forward cache, and is not loaded again @firefox', async ({
  bfcache,
  site,
}) => {
  const page = await (await bfcache.open()).newPage();
  await page.goto(site.page('/a.html', BARE + tellsLastShown));
  await expect(page).toHaveTitle('loaded');
  await page.goto(site.page('/b.html', BARE));
  await bfcache.back(page);
  await expect.poll(() => lastShown(page)).toBe('restored');
});
