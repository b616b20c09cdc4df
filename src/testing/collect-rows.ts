import type { Batch, BatchAnswer } from '../interface/wire.js';
import type { EventMap } from '../client/types.js';
import { readRows, type Row } from './rows.js';
import type { Recorded } from './types.js';

/** The part of Playwright's `Request` that is used here. */
export interface RequestLike {
  method(): string;
  url(): string;
  headers(): Record<string, string>;
  postData(): string | null;
}

/** The part of Playwright's `Route` that is used here. */
export interface RouteLike {
  request(): RequestLike;
  fulfill(answer: {
    status: number;
    headers: Record<string, string>;
    body: string;
  }): Promise<unknown>;
}

/** A `Page` or a `BrowserContext` of Playwright. */
export interface Routable {
  route(
    url: (url: URL) => boolean,
    handler: (route: RouteLike) => Promise<unknown>,
  ): Promise<unknown>;
}

const OPERATION = /\/v1\/(event|identify|batch)$/;

/** A relay on another origin is asked with cookies, so the origin is named. */
const corsHeaders = ({ origin = '*' }: Record<string, string>) => ({
  'access-control-allow-origin': origin,
  'access-control-allow-credentials': 'true',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key',
  'content-type': 'application/json',
});

/**
 * Answers for the service or the relay in tests with Playwright, and collects what is sent to it. Call it before
 * the page opens. Give it a context for all of its pages. What Chromium sends as a page goes away is not seen.
 * `at`: the `baseUrl` or the whole address of the relay, where only its requests are to be answered.
 * @example
 * const sent = await collectRows(context);
 * await expect.poll(() => sent.events('Signed Up')).toMatchObject([{ tags: { plan: 'pro' } }]);
 */
export const collectRows = async <Events extends EventMap<Events> = Record<string, object>>(
  page: Routable,
  at = '',
): Promise<Recorded<Events>> => {
  const rows: Row[] = [];
  /** A record that is sent again has the same id. */
  const seen = new Set<string>();

  const add = (type: Row['type'], body: string, id?: string): void => {
    if (id && seen.has(id)) return;
    if (id) seen.add(id);
    rows.push({ type, body });
  };

  const take = (request: RequestLike): object => {
    const [, operation] = OPERATION.exec(new URL(request.url()).pathname)!;
    const body = request.postData() ?? '{}';
    if (operation !== 'batch') {
      add(operation as Row['type'], body, request.headers()['idempotency-key']);
      return { success: true, message: 'collected' };
    }
    const { records = [] } = JSON.parse(body) as Partial<Batch>;
    for (const { id, type, body } of records) add(type, JSON.stringify(body), id);
    const answer: BatchAnswer = {
      results: records.map(({ id }) => ({ id, outcome: 'delivered', status: 200 })),
    };
    return answer;
  };

  await page.route(
    ({ href, pathname }) => href.startsWith(at) && OPERATION.test(pathname),
    async (route) => {
      const request = route.request();
      const isPreflight = request.method() === 'OPTIONS';
      await route.fulfill({
        status: isPreflight ? 204 : 200,
        headers: corsHeaders(request.headers()),
        body: isPreflight ? '' : JSON.stringify(take(request)),
      });
    },
  );

  return {
    ...readRows<Events>(() => rows),
    clear: () => void rows.splice(0),
  };
};
