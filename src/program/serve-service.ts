import { writeFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { isLocalName } from '../interface/is-local-name.js';
import { createClientAddress } from './client-address.js';
import { listen, type Door } from './listen.js';
import type { Log } from './log.js';
import { mountService } from './mount-service.js';
import { announcementOf } from './service-announcement.js';
import type { ServiceSettings } from './service-settings.js';
import { onSignals, untilStopped, within } from './until-stopped.js';

const LOG_EVERY_MS = 60_000;
/** How long all may take when the program is told to stop. Then it ends whatever is under way. */
const STOP_MS = 20_000;
/** Where no port is asked for, this one or the next that is free. */
const PORT = 8_787;

interface Effects {
  log: Log;
  /** Writes what a person who starts the program needs. */
  announce: (text: string) => void;
  /** Where the snippet's files and the page of the rows are. */
  files: URL;
}

/** Runs the whole service until the program is told to stop, and then until nothing is under way. */
export const serveService = async (
  settings: ServiceSettings,
  { log, announce, files }: Effects,
): Promise<void> => {
  const { folder, host, port = PORT, adminPort, addressHeader, trustedProxies } = settings;
  const client = createClientAddress({
    ...{ header: addressHeader, trusted: trustedProxies, warn: log.error },
  });
  const mounted = await mountService(settings, { log, files, clientAddress: client.of });
  const { traffic, isLocal } = mounted;
  const doors: Door[] = [
    await listen({
      ...{ name: 'PORT', host, port, nextFree: settings.port === undefined },
      answer: (request, address) => {
        client.note(request, address);
        return mounted.answer(request);
      },
    }),
  ];
  if (adminPort !== undefined)
    doors.push(
      await listen({ name: 'ADMIN_PORT', host, port: adminPort, answer: mounted.answerAdmin }),
    );
  const ignore = onSignals({ SIGUSR2: mounted.tryNow });
  const stopped = untilStopped();
  const url = `http://${nameOf(host)}:${doors[0]!.port}`;
  mounted.start(isLocal ? url : '');
  writeFileSync(join(folder, 'address'), `${url}\n`); // for `tail`
  const asksForToken = mounted.readToken !== undefined;
  announce(announcementOf({ ...mounted, url, tag: mounted.tag(), asksForToken, settings }));
  const logging = setInterval(() => log.info(traffic.line()), LOG_EVERY_MS);

  await stopped;
  ignore();
  clearInterval(logging);
  // Requests under way are answered, and what is being delivered is delivered; the rest stays in the queue.
  const all = Promise.all([mounted.stop(), ...doors.map(({ end }) => end())]);
  const isLate = await within(STOP_MS, all);
  await mounted.close();
  log.info(`${isLate ? 'stopped before all was done' : 'stopped'}. ${traffic.line()}`);
};

/** Under which name this machine finds what listens at an address: one that stands for all addresses is none. */
const nameOf = (host: string): string => {
  if (isLocalName(host) || host === '0.0.0.0' || host === '::') return 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
};
