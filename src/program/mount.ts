import { isLocalName, isLocalOrigin } from '../util/is-local-name.js';
import type { Names, OnMetric, ServerHealth, ServerOptions } from '../relay.js';
import type { Store } from '../service.js';
import { createMetrics } from '../relay-node.js';
import { createAdmin } from './admin.js';
import type { Log } from './log.js';
import { load } from '../util/load.js';
import { mountRelay } from './mount-relay.js';
import { mountStore } from './mount-store.js';
import { tagFor } from './paste.js';
import { inSettings, type Settings } from './settings.js';
import { createSnippetFiles } from './snippet-files.js';
import { createTrafficLog } from './traffic-log.js';
import { createTroubleLog } from './trouble-log.js';

/** What a relay and a store are made of. */
export interface MountParts extends Pick<ProgramParts, 'files' | 'store'> {
  /** The options of both. */
  options: ServerOptions & { projects: Names; channels: Names };
  /** Whether only this machine is meant to reach the program. */
  isLocal: boolean;
  tag: () => string;
}

/** What the program serves: a relay or a store. */
export interface Mounted {
  /** Where records go, in words. */
  target: string;
  answer: (request: Request) => Promise<Response>;
  health: () => Promise<ServerHealth>;
  /** The token that reading requires; missing if it requires none. */
  readToken?: string | undefined;
  /** The file that says at which address the program listens. */
  addressFile?: string;
  /** Ends all waits of passing on. */
  tryNow?: () => void;
  /** Replaces the token for the service. */
  setServiceToken?: (token: string) => void;
  /** Notes that a page has loaded the snippet. */
  noteFile?: () => void;
  /** Ends the streams of rows to followers. */
  endFeeds?: () => void;
  /** Finishes exports and messages under way. */
  stop?: () => Promise<void>;
  close?: () => Promise<void>;
}

/** How long a browser on another machine may use a file of the snippet without asking. */
const MAX_AGE_S = 3_600;

/**
 * Whether only this machine is meant to reach the program. Behind a proxy on this machine, requests of all others seem
 * to come from here. So all settings that hint at a proxy count, too: origins of other sites, and the settings of
 * proxies.
 */
const isForThisMachine = ({ host, origins, trustedProxies, addressHeader }: Settings): boolean =>
  isLocalName(host) &&
  (origins ?? []).every(isLocalOrigin) &&
  trustedProxies === undefined &&
  addressHeader === undefined;

/** Where a page finds the program: on its own site by the path alone, else by the whole address. */
const placeOf = (publicUrl: string, origins: readonly string[]): string => {
  const { origin, pathname } = new URL(publicUrl);
  return `${origins.includes(origin) ? '' : origin}${pathname.replace(/\/+$/, '')}`;
};

const firstOf = (names: Names, usual: string): string => (names === '*' ? usual : names[0]!);

export interface ProgramParts {
  log: Log;
  /** Where the snippet's files and the page of the rows are. */
  files: URL;
  clientAddress: (request: Request) => string | undefined;
  /** In place of the one that the settings name. */
  store?: Store | undefined;
}

/** Puts the parts of the program together, without a port. */
export const mount = async (settings: Settings, parts: ProgramParts) => {
  const { log, files, clientAddress } = parts;
  const { service, keepsNothing } = settings;
  const traffic = createTrafficLog({
    passesOn: service !== undefined && !keepsNothing,
  });
  // The numbers are counted only if a port shows them.
  const metrics =
    settings.adminPort === undefined
      ? undefined
      : createMetrics({ client: await load('prom-client', () => import('prom-client')) });
  const onMetric: OnMetric = (...args) => {
    traffic.onMetric(...args);
    metrics?.onMetric(...args);
  };
  const isLocal = isForThisMachine(settings);
  /** Address of the program for local pages; empty if it is a part of their site. */
  let url = '';
  const { projects, channels, publicUrl, origins = [] } = settings;
  const { rateLimit, ceiling, ignoreAddresses, gpc } = settings;
  const names = { project: firstOf(projects, 'my-site'), channel: firstOf(channels, 'web') };
  const tag = () => {
    const place = publicUrl === undefined ? url : placeOf(publicUrl, origins);
    return tagFor({ url: place, isLocal: isLocalOrigin(place), ...names });
  };
  const options = {
    ...{ projects, channels, rateLimit, ceiling, ignoreAddresses, gpc, clientAddress, onMetric },
    ...createTroubleLog(log, inSettings),
  };
  const shared = { ...parts, options, isLocal, tag };
  const mounted =
    service && keepsNothing
      ? mountRelay(settings, service, shared)
      : await mountStore(settings, shared);
  const { answer, health, tryNow, noteFile, endFeeds, stop, close } = mounted;
  const snippet = createSnippetFiles(files, isLocal ? 0 : MAX_AGE_S);

  return {
    ...mounted,
    ...{ isLocal, tag, traffic },
    answer: async (request: Request): Promise<Response> => {
      const file = await snippet(request);
      if (file) noteFile?.();
      return file ?? answer(request);
    },
    /** Answers requests at the port for operators. */
    answerAdmin: createAdmin({ health, tryNow, metrics: metrics?.handler }),
    /** Notes the address of the program for local pages; empty if it is a part of their site. */
    start: (address: string): void => void (url = address),
    /** Ends the streams of rows, and finishes deliveries, exports and messages under way. */
    stop: async (): Promise<void> => {
      endFeeds?.();
      await stop?.();
    },
    close: async (): Promise<void> => close?.(),
  };
};
