import { afterEach, expect, it, vi } from 'vitest';
import { outsideZone } from '../../../src/client/browser/outside-zone.js';

afterEach(() => vi.unstubAllGlobals());

it('runs work in the root zone, and answers with what it gives', () => {
  const run = vi.fn((work: () => unknown) => work());
  vi.stubGlobal('Zone', { root: { run } });
  expect(outsideZone(() => 'done')).toBe('done');
  expect(run).toHaveBeenCalledTimes(1);
});

for (const Zone of [undefined, null, {}, { root: {} }]) {
  it(`runs work where it is when \`Zone\` is ${JSON.stringify(Zone)}`, () => {
    vi.stubGlobal('Zone', Zone);
    expect(outsideZone(() => 'done')).toBe('done');
  });
}
