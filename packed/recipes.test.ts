/** Each recipe of the docs, started as whoever copies it would over the package as it would be published. */
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { freePort } from '../test/support/free-port.mjs';
import { checkRelay } from './support/check-relay.js';
import { buildExamples } from './support/examples.js';
import { FOLDER, NIGHT } from './support/install.js';
import { RECIPES } from './support/recipes.js';
import { openService, ORIGIN, TOKEN } from './support/service.js';

const BUILDS_WITHIN_MS = 600_000;

const chosen = Object.entries(RECIPES).filter(([, { isNightly }]) => NIGHT || !isNightly);

if (NIGHT) beforeAll(buildExamples, BUILDS_WITHIN_MS);

for (const [name, recipe] of chosen) {
  const { tags = [] } = recipe;
  it(`${name} delivers once, and keeps strangers out`, { tags }, async () => {
    const service = await openService();
    const port = await freePort();
    const folder = recipe.folder ?? join(FOLDER, 'recipes', name);
    const settings = { SERVICE_URL: service.url, SERVICE_TOKEN: TOKEN, SITE_ORIGIN: ORIGIN };
    const running = await recipe.start({ folder, port, env: { ...settings, PORT: String(port) } });
    const said = () => running.map(({ output }) => output()).join('\n');
    try {
      await checkRelay({
        url: `http://127.0.0.1:${port}/a`,
        ...{ service, isAlive: () => running.every(({ isAlive }) => isAlive()) },
        ...recipe.promises,
      });
      expect(said()).not.toContain(TOKEN);
    } catch (error) {
      console.log(said());
      throw error;
    } finally {
      await Promise.all(running.map(({ stop }) => stop()));
      await service.close();
    }
  });
}
