import { expect, it, vi } from 'vitest';
import { passUntil } from '../support/clock.js';
import { names, openShop } from '../support/shop.js';

type Fetch = typeof fetch;
const promise = (work: (response: Response) => unknown) => (fetch: Fetch) =>
  (async (...args: Parameters<Fetch>) => work(await fetch(...args))) as unknown as Fetch;

/** What scripts of other people put in the place of `fetch`, or of what it gives. */
const WRAPPERS: Record<string, (fetch: Fetch) => Fetch> = {
  'whose response has no headers': promise(({ status, body }) => ({ status, body })),
  'whose headers throw': promise((response) =>
    Object.defineProperty(response, 'headers', {
      get: () => {
        throw new Error('no headers');
      },
    }),
  ),
  'that gives a thenable': (fetch) =>
    ((...args: Parameters<Fetch>) => {
      const response = fetch(...args);
      return {
        then: (...how: Parameters<typeof response.then>) => void response.then(...how),
      };
    }) as unknown as Fetch,
  'whose text is a text, and no promise': promise(({ status, headers }) => ({
    ...{ status, headers },
    text: () => '',
  })),
  'whose response has neither text nor body': promise(({ status, headers }) => ({
    ...{ status, headers },
  })),
  'that has read the body already': promise(async (response) => {
    await response.json();
    return response;
  }),
  'whose status is a text': promise(({ status }) => ({ status: `${status}` })),
};

it.each(Object.entries(WRAPPERS))(
  'stores once what goes through a wrapped fetch %s',
  async (_, wrap) => {
    const { service, visit, holds } = openShop();
    vi.stubGlobal('fetch', wrap(service.fetch));
    const { track, heard } = visit();
    track(names(3));
    await holds(names(3));
    expect(heard.outcome).toMatchObject(Array(3).fill({ outcome: 'delivered', status: 200 }));
  },
);

/** What scripts of a page do to it. */
const HABITS: Record<string, () => unknown> = {
  'have a constant called `URL`': () => vi.stubGlobal('URL', undefined),
  'hide whether the browser is online': () => Object.assign(navigator, { onLine: undefined }),
  'say for ever that it is offline': () => Object.assign(navigator, { onLine: false }),
  'have a `requestIdleCallback` that never calls': () =>
    vi.stubGlobal('requestIdleCallback', () => 1),
  'have a `requestIdleCallback` that throws': () =>
    vi.stubGlobal('requestIdleCallback', () => {
      throw new Error('never idle');
    }),
};

it.each(Object.entries(HABITS))(
  'delivers each call as it was made on a page whose scripts %s',
  async (_, spoil) => {
    const { visitUnset, options } = openShop();
    const taken: string[] = [];
    spoil();
    const { analytics } = visitUnset();
    analytics.event('early', { tags: { n: 1 } });
    const began = Date.now();
    const own: Fetch = async (_url, init) => {
      taken.push(init!.body as string);
      return Response.json({ success: true });
    };
    analytics.init({ ...options, fetch: own });
    analytics.identify('user_1');
    analytics.event('late', { icon: '🎉' });
    await passUntil(() => analytics.status().delivered === 3);
    const timestamp = new Date(began).toJSON();
    expect(taken.map((body) => JSON.parse(body) as unknown).slice(0, 3)).toEqual(
      expect.arrayContaining([
        { project: 'shop', channel: 'web', event: 'early', tags: { n: 1 }, timestamp },
        { project: 'shop', user_id: 'user_1', properties: {} },
        {
          ...{ project: 'shop', channel: 'web', event: 'late', icon: '🎉', tags: {} },
          ...{ user_id: 'user_1', timestamp },
        },
      ]),
    );
  },
);
