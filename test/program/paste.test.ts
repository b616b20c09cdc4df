// @vitest-environment happy-dom
import { expect, it, vi } from 'vitest';
import { tagFor } from '../../src/program/paste.js';

it('tells in the console of a file that does not load', () => {
  const error = vi.spyOn(console, 'error').mockReturnValue();
  const place = { url: 'https://a.test', isLocal: false, project: 'p', channel: 'c' };
  const box = document.createElement('div');
  box.innerHTML = tagFor(place);
  const tag = box.querySelector('script')!;
  // As the browser calls it.
  new Function(tag.getAttribute('onerror')!).call(tag);
  expect(error.mock.calls).toEqual([
    [
      'analytics-outbox: https://a.test/outbox-auto.js did not load: check the address, and blockers',
    ],
  ]);
});
