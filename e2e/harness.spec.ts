import { BARE } from './support/html.js';
import { expect, test } from './support/test.js';

// What the other tests rely on to fail.

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
