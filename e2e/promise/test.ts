import { test as base } from '../support/test.js';
import type { BrowserNeeds, Engine } from './engines/engine.js';
import { createPlaywrightEngine, kindOf } from './engines/playwright.js';
import { createWebkitEngine } from './engines/webkit.js';
import type { Way } from './row.js';
import { createStage, type Stage } from './stage.js';

interface Fixtures {
  way: Way;
  needs: BrowserNeeds;
  stage: Stage;
}

/** The `test` of all end-to-end tests, with a stage for a row in the engine of the project. */
export const test = base.extend<Fixtures, { engine: Engine }>({
  engine: [
    async ({ playwright, browserName, launchOptions }, use, { project }) => {
      const engine =
        project.name === 'webkit'
          ? await createWebkitEngine()
          : await createPlaywrightEngine(
              playwright[browserName],
              kindOf(browserName as 'chromium' | 'firefox', launchOptions),
            );
      await use(engine);
      await engine.close();
    },
    { scope: 'worker' },
  ],
  way: ['direct', { option: true }],
  needs: [{}, { option: true }],
  stage: async ({ engine, needs, way, service, site, ground, guest }, use) => {
    const { relay } = ground;
    const stage = await createStage({ engine, needs, way, service, site, relay, guest });
    await use(stage);
    await stage.dispose();
  },
});
