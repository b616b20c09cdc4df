import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { htmlPage } from './support/html.js';
import { setupOf } from './support/setup-of.js';
import { scriptTag } from './support/tagged.js';
import { expect, test } from './support/test.js';
import { names } from './support/names.js';
import { track } from './support/track.js';

const BUILDER = fileURLToPath(new URL('agents/build.mjs', import.meta.url));
const BUILT = new URL('../.tmp/agents/dist/', import.meta.url);
const BUILDS_WITHIN_MS = 600_000;

test.skip(process.env.RECIPES === 'skip', 'RECIPES=skip: the tools come from a registry');

// One worker, so that the tools are installed and built once.
test.describe.configure({ mode: 'default' });

test.beforeAll(async () => {
  test.setTimeout(BUILDS_WITHIN_MS);
  await promisify(execFile)(process.execPath, [BUILDER]);
});

/** Each is set to put its headers on all requests, or to look at all of them. */
const TOOLS = ['sentry', 'datadog', 'opentelemetry', 'faro', 'app-insights', 'new-relic'] as const;

const REPLACED = /nothing answers at .*\. Another script has replaced `fetch`/;

for (const tool of TOOLS) {
  test(`${tool} lets through all events where it is set as docs/beside-other-tools.md says`, async ({
    page,
    guest,
    service,
    site,
  }) => {
    guest.allow(/./); // the tools have globals, and complain on the console
    const told: string[] = [];
    page.on('console', (message) => void told.push(message.text()));
    const collected: string[] = [];
    site.handle('/collect', (request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => void collected.push(text));
      request.on('end', () => response.writeHead(200).end('{}'));
    });
    site.file(`/${tool}.js`, readFileSync(new URL(`${tool}.js`, BUILT), 'utf8'));

    const pageWith = (isSet: boolean): string => {
      const { host, hostname } = new URL(service.url);
      const parts = { ours: service.url, host: tool === 'app-insights' ? host : hostname, isSet };
      const options = JSON.stringify({ ...parts, collector: `${site.url}/collect` });
      const tag = scriptTag(setupOf(service));
      const start = site.file(
        `/start-${isSet}.js`,
        `await agent.start(${options});
document.head.append(document.createRange().createContextualFragment(${JSON.stringify(tag)}));`,
      );
      const head = `<script src="/${tool}.js"></script><script type="module" src="${start}"></script>`;
      return site.page(`/${isSet ? 'set' : 'as-it-is'}`, htmlPage({ head }));
    };
    const open = async (isSet: boolean): Promise<void> => {
      await page.goto(pageWith(isSet));
      await page.waitForFunction(() => 'analytics' in window && 'init' in analytics);
    };

    await open(false);
    await track(page, names(3));
    await expect.poll(() => told.join('\n')).toMatch(REPLACED);
    expect(await service.events()).toEqual([]);

    await open(true);
    collected.length = 0;
    await track(page, names(3, 'set'));
    await service.holds({ events: [...names(3), ...names(3, 'set')] }, { pages: [page] });
    // Leaving is when most tools send.
    await page.goto('about:blank');
    expect(collected.filter((text) => text.includes(service.url))).toEqual([]);
  });
}
