/**
 * Builds the examples in demo/examples over the package as it would be published, for `e2e/examples.spec.ts`.
 * `npm test` does this beside the recipes. Needs the build, and a registry for the first run.
 * Does nothing if they are built from what is there now.
 */
import { areBuilt, buildExamples, noteBuilt } from './support/examples.mjs';
import { installRecipes } from './support/install.mjs';

if (!areBuilt()) {
  installRecipes();
  const builds = Object.values(buildExamples());
  await Promise.allSettled(builds); // so that none goes on when another fails
  await Promise.all(builds);
  noteBuilt();
}
