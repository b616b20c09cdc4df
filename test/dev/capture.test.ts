// @vitest-environment happy-dom
// @vitest-environment-options { "url": "http://localhost:3000/" }
import { expect, it, vi } from 'vitest';
import { autocapture } from '../../src/autocapture-dev.js';
import { FEATURES } from '../../src/capture/autocapture.js';
import { ASKED } from '../../src/dev/capture.js';
import { createAnalytics } from '../../src/testing.js';

it('tells an app once what it cannot ask for, and what keeps all from being captured', () => {
  const told = vi.spyOn(console, 'warn').mockReturnValue();
  const lines = () =>
    told.mock.calls.splice(0).map(([line]) => String(line).replace('analytics-outbox: ', ''));
  const analytics = createAnalytics({ relay: '/a', project: 'shop', channel: 'web' });
  const ask = (options: object) => autocapture(analytics, options);
  ask({ pageview: true, nothing: true });
  expect(lines()).toEqual([
    '`pageview` cannot be captured: did you mean `pageviews`?',
    expect.stringMatching(/^what each message means/),
    `\`nothing\` cannot be captured: there are ${ASKED.join(', ')}`,
    'nothing is captured locally without `local`',
  ]);
  ask({ pageviews: true });
  vi.stubGlobal('navigator', { webdriver: true });
  ask({ local: true });
  expect(lines()).toEqual(['nothing is captured locally without `automated`']);
  ask({ local: true, automated: true, map: () => null })();
  expect(lines()).toEqual([]);
});

it('knows all that can be captured', () => {
  expect(ASKED).toEqual([...Object.keys(FEATURES), 'local', 'automated', 'map']);
});
