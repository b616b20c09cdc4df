import { isLocalName, isLocalOrigin } from '../interface/is-local-name.js';
import type { Consumer, Hooks, Names, OnMetric, Queue, ServerHealth } from '../relay.js';
import type { Store } from '../service.js';
import { createMetrics } from '../relay-node.js';
import { createAdmin } from './admin.js';
import type { Log } from './log.js';
import { load } from './load.js';
import { mountRelay } from './mount-relay.js';
import { mountStore } from './mount-store.js';
import { openQueue } from './open-queue.js';
import { withoutPassword } from './open-store.js';
import { tagFor } from './paste.js';
import { inSettings, type Settings } from './settings.js';
import { createSnippetFiles } from './snippet-files.js';
import { createTrafficLog } from './traffic-log.js';
import { createTroubleLog } from './trouble-log.js';

/** What a relay and a store are made of. */
export interface MountParts {
  queue: Queue | undefined;
  clientAddress: (request: Request) => string | undefined;
  hooks: Hooks;
}

/** What stands behind the doors of the program: a relay or a store. */
export interface Mounted {
  /** Where records go, in words. */
  target: string;
  answer: (request: Request) => Promise<Response>;
  health: () => Promise<ServerHealth>;
  /** Empties the queue, if there is one. */
  consumer: Consumer | undefined;
  /** Asked for by everything that reads; missing if nothing asks for a token. */
  readToken?: string | undefined;
  /** The file that says at which address the program listens. */
  addressFile?: string;
  /** Replaces the token for the service. */
  setServiceToken?: (token: string) => void;
  /** Notes that a page has loaded the snippet. */
  noteFile?: () => void;
  /** Ends the answers to those who follow the rows. */
  endFeeds?: () => void;
  close?: () => Promise<void>;
}

/** How long a browser on another machine may use a file of the snippet without asking. */
const MAX_AGE_S = 3_600;

/**
 * Whether nobody but this machine is meant to reach the program. A proxy on this machine makes all others look like it,
 * so each setting counts that says that there is one: who may send, and whom to believe.
 */
const isForThisMachine = ({ host, origins, trustedProxies, addressHeader }: Settings): boolean =>
  isLocalName(host) &&
  (origins ?? []).every(isLocalOrigin) &&
  trustedProxies === undefined &&
  addressHeader === undefined;

const firstOf = (names: Names, usual: string): string => (names === '*' ? usual : names[0]!);

interface Parts {
  log: Log;
  /** Where the snippet's files and the page of the rows are. */
  files: URL;
  clientAddress: (request: Request) => string | undefined;
  /** In place of the one that the settings name. */
  store?: Store | undefined;
}

/** Puts the parts of the program together, without a port. */
export const mount = async (settings: Settings, parts: Parts) => {
  const { log, files, clientAddress } = parts;
  const traffic = createTrafficLog({ hasQueue: settings.queue !== undefined });
  // Nothing is counted for Prometheus if no port shows the numbers.
  const metrics =
    settings.adminPort === undefined
      ? undefined
      : createMetrics({ client: await load('prom-client', () => import('prom-client')) });
  const onMetric: OnMetric = (...args) => {
    traffic.onMetric(...args);
    metrics?.onMetric(...args);
  };
  const opened = settings.queue && (await openQueue(settings.queue));
  const hooks = { ...createTroubleLog(log, inSettings), onMetric };
  const shared = { queue: opened?.queue, clientAddress, hooks };
  const isLocal = isForThisMachine(settings);
  /** Address of the program as local pages see it; empty where pages see it as a part of their site. */
  let url = '';
  const { projects, channels } = settings;
  const tag = () =>
    tagFor({ url, project: firstOf(projects, 'my-site'), channel: firstOf(channels, 'web') });
  const mounted = settings.service
    ? mountRelay(settings, settings.service, { ...shared, log })
    : await mountStore(settings, { ...shared, isLocal, tag, files, store: parts.store });
  const { target, answer, health, consumer, noteFile, endFeeds, close } = mounted;
  const behind = settings.queue ? `, behind the queue ${withoutPassword(settings.queue.url)}` : '';
  const snippet = createSnippetFiles(files, isLocal ? 0 : MAX_AGE_S);

  return {
    ...mounted,
    ...{ isLocal, tag, traffic, target: `${target}${behind}` },
    answer: async (request: Request): Promise<Response> => {
      const file = await snippet(request);
      if (file) noteFile?.();
      return file ?? answer(request);
    },
    /** Answers people and programs that operate this one. */
    answerAdmin: createAdmin({ health, consumer, metrics: metrics?.handler }),
    /**
     * Begins to empty the queue. The address is that of the program as pages see it: empty if it is a part of their site.
     */
    start: (address: string): void => {
      url = address;
      consumer?.start();
    },
    /** Ends what would keep a server up, and finishes what is being delivered. */
    stop: async (): Promise<void> => {
      endFeeds?.();
      await consumer?.stop();
    },
    close: async (): Promise<void> => {
      await close?.();
      await opened?.close();
    },
  };
};
