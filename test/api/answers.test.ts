import { expect, it, vi } from 'vitest';
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
