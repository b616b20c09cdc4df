import type { ServerResponse } from 'node:http';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

test('sends two at a time to a service on the page’s own origin', async ({ page, site }) => {
  const came: string[] = [];
  const busy = new Set<ServerResponse>();
  let most = 0;
  site.handle('/v1/', (request, response) => {
    busy.add(response);
    most = Math.max(most, busy.size);
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      came.push((JSON.parse(body) as { event: string }).event);
      // Long enough for others to come meanwhile.
      setTimeout(() => {
        busy.delete(response);
        response.end('{"success":true}');
      }, 50);
    });
  });
  await page.goto(site.page('/', site.tagged({ baseUrl: site.url })));
  await track(page, names(30));
  await expect.poll(() => statusOf(page)).toMatchObject({ delivered: 30, waiting: 0 });
  expect(came.sort()).toEqual(names(30).sort());
  expect(most).toBe(2);
});
