import { AUTO, captured, HERE, namesOf, type Row, untilStored } from '../support/captured.js';
import { expect, test } from '../support/test.js';

test('records uncaught errors and rejections: each once, and ten at the most @firefox', async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allow(/^page error|unhandled rejection|Uncaught|Error: /);
  site.file(
    '/broken.js',
    `addEventListener('break', () => { throw new Error('Broken at https://a.example/?secret=1 here'); });`,
  );
  const style = { ...AUTO, body: '<script src="/broken.js?secret=1"></script>' };
  await page.goto(site.page('/', site.tagged({ auto: `errors ${HERE}` }, style)));
  await untilStored(page);
  await page.evaluate(async () => {
    const later = () => new Promise((done) => setTimeout(done));
    dispatchEvent(new Event('break'));
    dispatchEvent(new Event('break'));
    document.body.append(Object.assign(new Image(), { src: '/missing.png' }));
    void Promise.reject(new Error('Not kept'));
    void Promise.reject({
      get message() {
        throw new Error('cannot be read');
      },
    });
    await later();
    for (let i = 0; i < 12; i++) void Promise.reject(`number ${i}`);
    await later();
  });
  const path = '/';
  const expected: Row[] = [
    [
      'Error Occurred',
      {
        path,
        type: 'error',
        message: expect.stringMatching(/Broken at https:\/\/a\.example\/ here$/),
        source: expect.stringMatching(new RegExp(`^${site.url}/broken.js:1:\\d+$`)),
      },
    ],
    ...['Not kept', ...Array.from({ length: 8 }, (_, i) => `number ${i}`)].map((message): Row => [
      'Error Occurred',
      { path, type: 'unhandledrejection', message },
    ]),
  ];
  // Some happen in one millisecond, and arrive in any order.
  expect(await captured(service, namesOf(expected))).toEqual(expect.arrayContaining(expected));
});
