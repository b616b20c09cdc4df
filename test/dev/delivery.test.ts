import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { errorText, followPolicy } from '../../src/dev/delivery.js';

beforeEach(() => {
  vi.stubGlobal('location', new URL('https://shop.test/cart'));
  // A browser's is no script; Node's is one.
  vi.stubGlobal('fetch', Math.max);
});
afterEach(() => vi.unstubAllGlobals());

const RELAY = { relay: '/a' };

it('says that the `fetch` is not the browser’s, where a tool has put its own in its place', () => {
  const error = { kind: 'unreachable', message: 'https://shop.test/a/v1/batch: 0' } as const;
  const replaced = /Another script has replaced `fetch`: it may add headers/;
  vi.stubGlobal('fetch', () => undefined);
  expect(errorText(error, RELAY)).toMatch(replaced);
  // As Sentry's, which has a prototype, and reads as if it were native.
  vi.stubGlobal('fetch', Object.assign(Math.max.bind(null), { prototype: {} }));
  expect(errorText(error, RELAY)).toMatch(replaced);
});

it('says of a relay that answers, but reaches no service, which of the two it is', () => {
  const error = { kind: 'unreachable', message: 'the relay: 0' } as const;
  expect(errorText(error, RELAY)).toBe(
    'the relay gets no answer from the service: check its set-up',
  );
});

it.each([
  ['https://in.example/v1/event', 'connect-src', 'enforce', true],
  ['https://in.example', 'connect-src', 'enforce', true],
  ['https://in.example/v1/event', 'connect-src', 'report', false],
  ['https://in.example/photo.png', 'img-src', 'enforce', false],
  ['https://in.example:8080/', 'connect-src', 'enforce', false],
  ['https://in.example.other.example/', 'connect-src', 'enforce', false],
])('takes %s, blocked by %s (%s), for the service: %s', (blockedURI, directive, how, isOurs) => {
  const page = new EventTarget();
  vi.stubGlobal('document', page);
  const onBlocked = vi.fn();
  followPolicy(() => ({ baseUrl: 'https://in.example' }), onBlocked);
  const blocked = { blockedURI, effectiveDirective: directive, disposition: how };
  page.dispatchEvent(Object.assign(new Event('securitypolicyviolation'), blocked));
  expect(onBlocked).toHaveBeenCalledTimes(isOurs ? 1 : 0);
});
