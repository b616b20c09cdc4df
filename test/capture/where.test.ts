// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/" }
import { afterEach, expect, it, vi } from 'vitest';
import { autocapture } from '../../src/autocapture.js';
import { createAnalytics } from '../../src/testing.js';
import { capture } from '../support/captured.js';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it.each<[who: string, host: string, options: object, missing?: string]>([
  ['a visitor', 'shop.example', {}],
  ['a visitor', 'shop.localhost', {}, 'local'],
  ['a visitor', 'shop.test', { local: true }],
  ['an automated browser', 'shop.example', {}, 'automated'],
  ['an automated browser', 'shop.example', { automated: true }],
  ['an automated browser', 'shop.test', { automated: true }, 'local'],
  ['an automated browser', 'shop.test', { local: true }, 'automated'],
])('of %s on %s, with %j, captures all, or lacks %s', (who, host, options, missing) => {
  (window as unknown as { happyDOM: { setURL: (url: string) => void } }).happyDOM.setURL(
    `https://${host}/`,
  );
  Object.defineProperty(navigator, 'webdriver', {
    configurable: true,
    value: who === 'an automated browser',
  });
  const analytics = createAnalytics({ relay: '/a', project: 'shop', channel: 'web' });
  const start = () => autocapture(analytics, { clicks: true, ...options });
  start()();
  start();
  const stop = start();
  document.body.innerHTML = '<button data-event="Clicked">Click</button>';
  document.querySelector('button')!.click();
  expect(analytics.events('Clicked')).toHaveLength(missing ? 0 : 1);
  stop();
});

it('captures nothing once the tracker itself is stopped', () => {
  const { analytics, names } = capture({ clicks: true });
  document.body.innerHTML = '<button data-event="Clicked">Click</button>';
  document.querySelector('button')!.click();
  analytics.stop();
  document.querySelector('button')!.click();
  analytics.init({ relay: '/a', project: 'shop', channel: 'web' });
  document.querySelector('button')!.click();
  expect(names()).toEqual(['Clicked']);
});

it('lets a function of the page change and drop events', () => {
  const { analytics } = capture({
    clicks: { channel: 'ui', tags: { site: 'shop' } },
    map: (event) => {
      if (event.name === 'Secret') return null;
      if (event.name === 'Failing') throw new Error('the page is at fault');
      event.tags['kind'] = event.kind;
      return { ...event, name: event.name.toUpperCase(), notify: true };
    },
  });
  for (const name of ['Secret', 'Failing', 'Clicked']) {
    document.body.innerHTML = `<button data-event="${name}">${name}</button>`;
    document.querySelector('button')!.click();
  }
  expect(analytics.events()).toMatchObject([
    {
      ...{ event: 'CLICKED', channel: 'ui', notify: true },
      tags: { path: '/', site: 'shop', kind: 'clicks' },
    },
  ]);
  expect(analytics.drops()).toMatchObject([
    { reason: 'not-serializable', message: 'the page is at fault' },
  ]);
});
