import { test as base } from '@playwright/test';
import { createGuest, type Guest } from './guest.js';
import { mountRelay, RELAY, type Relay } from './relay.js';
import { createService, type Service } from './service.js';
import { createSite, type Site } from './site.js';
import { taggedPage, type TagStyle } from './tagged.js';
import { makeTempFolder, removeTempFolder } from './temp-folder.js';

export { expect } from '@playwright/test';

/** The set-up that test pages use unless they say otherwise. */
export const PROJECT = 'p';
export const CHANNEL = 'c';
/** In place of the second that visitors' pages wait for more calls. */
export const FLUSH_INTERVAL_MS = 100;

/** How pages send: straight to the service, or through a relay on their own site. */
export type Mode = 'direct' | 'relay';

interface Fixtures {
  mode: Mode;
  /** The site, and the relay on it. */
  ground: { site: Site; relay: Relay | undefined };
  /** A folder of the test's own. */
  folder: string;
  /** The service, with a database and faults of the test's own. */
  service: Service;
  /** A website on another origin. `tagged` writes a page with the tag, set up for the service. */
  site: Site & { tagged: (options?: Record<string, unknown>, style?: TagStyle) => string };
  /** Watches every page, and fails the test that left a trace in one. */
  guest: Guest;
}

/** Playwright's `test`, with a service, a website, and eyes on every page. */
export const test = base.extend<Fixtures>({
  mode: ['direct', { option: true }],

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

  ground: async ({ mode, service }, use) => {
    const site = await createSite();
    const parts = { site, service, project: PROJECT, channel: CHANNEL };
    await use({ site, relay: mode === 'relay' ? await mountRelay(parts) : undefined });
    await site.close();
  },

  site: async ({ mode, service, ground }, use) => {
    const form =
      mode === 'relay' ? { relay: RELAY } : { baseUrl: service.url, token: service.token };
    const src = mode === 'relay' ? '/dist/outbox-relay.js' : '/dist/outbox.js';
    const setup = {
      ...form,
      project: PROJECT,
      channel: CHANNEL,
      flushInterval: FLUSH_INTERVAL_MS,
    };
    await use({
      ...ground.site,
      tagged: (options, style) => taggedPage({ ...setup, ...options }, { src, ...style }),
    });
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
});
