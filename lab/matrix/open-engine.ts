import { foundBrowsers } from '../../e2e/support/found-browsers.js';
import type { Engine, EngineName } from './engine.js';
import { chromiumKind, createPlaywrightEngine, firefoxKind } from './playwright-engine.js';
import { createWebkitEngine } from './webkit-engine.js';

/** Starts an engine; throws, in words, where this machine has none. */
export const openEngine = async (name: EngineName): Promise<Engine> => {
  const { chromium, firefox } = foundBrowsers();
  switch (name) {
    case 'chromium':
      return createPlaywrightEngine(chromiumKind(chromium));
    case 'firefox':
      if (!firefox) throw new Error('No Firefox was found: set FIREFOX_PATH');
      return createPlaywrightEngine(firefoxKind(firefox));
    case 'webkit':
      return createWebkitEngine();
  }
};
