import { test as base } from '@playwright/test';
import { createBfcache, type Bfcache } from './bfcache.js';
import { createGuest, type Guest } from './guest.js';
import { createProfile, type Profile } from './profile.js';
import { createService, type Service } from './service.js';
import { createSite, type Site } from './site.js';
import { taggedPage, type TagStyle } from './tagged.js';
import { makeTempFolder, removeTempFolder } from './temp-folder.js';

export { expect } from '@playwright/test';

/** The set-up that test pages use unless they say otherwise. */
export const PROJECT = 'p';
export const CHANNEL = 'c';

interface Fixtures {
  /** A folder of the test's own. */
  folder: string;
  /** The service, with a database and faults of the test's own. */
  service: Service;
  /** A website on another origin. `tagged` writes a page with the tag, set up for the service. */
  site: Site & { tagged: (options?: Record<string, unknown>, style?: TagStyle) => string };
  /** Watches every page, and fails the test that left a trace in one. */
  guest: Guest;
  /** A browser that can be quit, killed and started again. */
  profile: Profile;
  /** Contexts with the back/forward cache on. */
  bfcache: Bfcache;
}

/** Playwright's `test`, with a service, a website, and eyes on every page. */
export const test = base.extend<Fixtures>({
  folder: async ({}, use) => {
    const folder = makeTempFolder();
    await use(folder);
    removeTempFolder(folder);
  },

  service: async ({ folder }, use) => {
    const service = await createService(folder);
    await use(service);
    await service.stop();
  },

  site: async ({ service }, use) => {
    const site = await createSite();
    const setup = {
      baseUrl: service.url,
      token: service.token,
      project: PROJECT,
      channel: CHANNEL,
    };
    await use({
      ...site,
      tagged: (options, style) => taggedPage({ ...setup, ...options }, style),
    });
    await site.close();
  },

  guest: [
    async ({}, use) => {
      const guest = createGuest();
      await use(guest);
      guest.verify();
    },
    { auto: true },
  ],

  context: async ({ context, guest }, use) => {
    await guest.watch(context);
    await use(context);
    await guest.inspect(context);
  },

  profile: async ({ playwright, browserName, launchOptions, guest }, use) => {
    const folder = makeTempFolder();
    const browserType = playwright[browserName];
    const profile = createProfile({ browserType, launchOptions, folder, guest });
    await use(profile);
    await profile.close();
    removeTempFolder(folder);
  },

  bfcache: async ({ playwright, browserName, launchOptions, guest }, use) => {
    const bfcache = createBfcache({ browserType: playwright[browserName], launchOptions, guest });
    await use(bfcache);
    await bfcache.close();
  },
});
