import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { isLocalOrigin } from '../util/is-local-name.js';
import { createTarget } from '../server/exports/create-target.js';
import { startExports } from '../server/exports/start-exports.js';
import { createTell } from '../server/hooks.js';
import { startNotify } from '../server/exports/notify.js';
import { load } from '../util/load.js';
import { madeToken } from './made-tokens.js';
import type { Mounted, MountParts } from './mount.js';
import { openStore, withoutPassword } from './open-store.js';
import { RELAY_PATH } from './paste.js';
import { createOutageFile } from './outage-file.js';
import { createRowsPage } from './rows-page.js';
import { createServiceClient } from './service-client.js';
import type { Settings } from './settings.js';

/** Makes a service: it stores records, shows them, and passes them on if there is another service. */
export const mountStore = async (settings: Settings, parts: MountParts): Promise<Mounted> => {
  const { folder, databaseUrl, readTokens, retentionDays } = settings.store;
  const { options, isLocal, tag, files } = parts;
  const { createService } = await load('hono', () => import('../service.js'));
  const writeTokens = settings.store.writeTokens ?? [
    { token: madeToken(folder, 'write-token'), projects: '*' as const },
  ];
  const made = madeToken(folder, 'read-token');
  const isOpen = isLocal && !readTokens;
  const readToken = settings.store.readToken ?? (isOpen ? undefined : made);
  const store = parts.store ?? (await openStore(databaseUrl));
  const client = settings.service && createServiceClient(settings.service);
  const service = createService({
    ...{ ...options, store, writeTokens, readToken, readTokens, tag, retentionDays },
    passOn: client?.options,
    page: createRowsPage(new URL('rows/', files)),
    relayPath: RELAY_PATH,
    origins: settings.origins ?? isLocalOrigin,
    outageNote: createOutageFile(join(folder, 'outage')),
    processName: `${hostname()}/${process.pid}`,
    tokenFile: settings.store.writeTokens ? undefined : resolve(folder, 'write-token'),
  });
  const targets = settings.store.exports.map((address) =>
    createTarget(address, (url) => openStore(url, { name: '`EXPORT`' })),
  );
  const tell = createTell(options);
  const stopExports = startExports({ store, targets, tell });
  const names = targets.map(({ name }) => name).join(' and ');
  const stopNotify = settings.notify && startNotify(settings.notify, { store, tell });
  const passesOn =
    settings.service && `, passes on to ${withoutPassword(settings.service.baseUrl)}`;
  return {
    target: `stores in ${withoutPassword(databaseUrl)}${passesOn ?? ''}${names && `, exports to ${names}`}`,
    answer: async (request) => {
      if (new URL(request.url).pathname !== '/') return service(request);
      return new Response(null, { status: 302, headers: { location: 'rows' } });
    },
    health: service.health,
    ...(client && { setServiceToken: client.setToken, tryNow: service.tryNow }),
    readToken,
    /** For `tail`. */
    addressFile: join(folder, 'address'),
    noteFile: () => service.note('file'),
    endFeeds: service.endFeeds,
    stop: async () => void (await Promise.all([service.stop(), stopExports(), stopNotify?.()])),
    close: service.close,
  };
};
