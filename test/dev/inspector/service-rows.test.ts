import { afterEach, expect, it, vi } from 'vitest';
import { destinationOf } from '../../../src/dev/inspector/destination.js';
import { mayAsk, storedIds } from '../../../src/dev/inspector/service-rows.js';

afterEach(() => vi.unstubAllGlobals());

const origin = 'https://shop.example';
const project = 'shop';

it.each([
  ['by a relay of its own site', { relay: '/a', project }, true],
  ['by a relay of another site', { relay: 'https://in.example/a', project }, false],
  ['directly, with ids as keys', { baseUrl: origin, project, idempotencyKey: true }, true],
  ['directly, where the service makes up ids', { baseUrl: origin, project }, false],
])('may ask for what was sent %s: %#', (_, options, may) => {
  vi.stubGlobal('location', new URL(origin));
  expect(mayAsk(destinationOf(options)!)).toBe(may);
});

it('knows nothing of what is stored where no row names this browser, as behind a queue', async () => {
  vi.stubGlobal('location', new URL(origin));
  const destination = destinationOf({ relay: `${origin}/a`, project })!;
  const ids = (...rows: object[]) => {
    vi.stubGlobal('fetch', async () => Response.json({ rows }));
    return storedIds(destination);
  };
  expect(await ids({ id: 'a' }, { id: 'b' })).toEqual(new Set(['a', 'b']));
  expect(await ids()).toBeUndefined();
});
