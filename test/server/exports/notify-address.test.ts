import { expect, it } from 'vitest';
import { parseNotifyAddress } from '../../../src/server/exports/notify-address.js';

it.each([
  ['https://hooks.example/a?b=1', 'webhook', 'https://hooks.example/a?b=1'],
  ['http://localhost:8080/a', 'webhook', 'http://localhost:8080/a'],
  ['ntfy://ntfy.sh/orders', 'ntfy', 'https://ntfy.sh/'],
  ['ntfy+http://127.0.0.1:80/orders', 'ntfy', 'http://127.0.0.1/'],
  [
    'slack+https://hooks.slack.com/services/T/B/x',
    'slack',
    'https://hooks.slack.com/services/T/B/x',
  ],
])('reads %s', (text, kind, url) => {
  expect(parseNotifyAddress(text)).toMatchObject({ kind, url });
});

it.each([
  'http://hooks.example/a',
  'ntfy+http://ntfy.example/orders',
  'slack+http://hooks.slack.com/services/T',
  'ntfy+ntfy://ntfy.sh/orders',
  'ntfy://ntfy.sh/',
  'ntfy://ntfy.sh/two/parts',
  'ntfy://ntfy.sh/a%20b',
  'ntfy://ntfy.sh/orders?auth=1',
  'slack+https://hooks.slack.com',
  'https://hooks.example/a#b',
  'https://',
  'https://a b',
  'file:///etc/passwd',
  'hooks.example',
])('does not take %s', (text) => {
  expect(parseNotifyAddress(text)).toBeUndefined();
});

it('has a name that tells addresses apart and shows no secret of them', () => {
  const nameOf = (text: string) => parseNotifyAddress(text)!.name;
  expect(nameOf('ntfy://ntfy.sh/orders-8f3k2j')).toMatch(/^ntfy\.sh\/orde…[\da-f]{6}$/);
  expect(nameOf('ntfy://ntfy.sh/abc')).toMatch(/^ntfy\.sh\/a…[\da-f]{6}$/);
  expect(nameOf('slack+https://hooks.slack.com/services/T/B/x')).toMatch(
    /^hooks\.slack\.com\/…[\da-f]{6}$/,
  );
  const names = ['x', 'y'].map((end) => nameOf(`slack+https://hooks.slack.com/services/${end}`));
  expect(names[0]).not.toBe(names[1]);
});

it('sends user and password in a header, and is the same target with another password', () => {
  const [one, other] = ['tk_1', 't%40k'].map((word) =>
    parseNotifyAddress(`ntfy://me:${word}@ntfy.sh/orders`)!,
  );
  expect(one!.url).toBe('https://ntfy.sh/');
  expect(one!.authorization).toBe(`Basic ${btoa('me:tk_1')}`);
  expect(other!.authorization).toBe(`Basic ${btoa('me:t@k')}`);
  expect(other!.name).toBe(one!.name);
});
