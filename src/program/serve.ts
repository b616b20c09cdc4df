import { writeFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { FILE_MODE } from '../server/private-files.js';
import { isLocalName } from '../util/is-local-name.js';
import { messageOf } from '../util/errors.js';
import { announcementOf } from './announcement.js';
import { createClientAddress } from './client-address.js';
import { listen } from './listen.js';
import { mount, type ProgramParts } from './mount.js';
import { readServiceToken, type Settings } from './settings.js';
import { onSignals, untilStopped, within } from './until-stopped.js';

const LOG_EVERY_MS = 60_000;
/** How long the program may take to stop. Then it ends whatever is under way. */
const STOP_MS = 20_000;
/** Without a setting: this port, or the next free one. */
const PORT = 8_787;

interface Parts extends Pick<ProgramParts, 'log' | 'files'> {
  /** Writes the text for the person who starts the program. */
  announce: (text: string) => void;
  /** The environment that a changed token is read from. */
  environment: NodeJS.ProcessEnv;
}

/** Runs the server until the program is told to stop, and then until nothing is under way. */
export const serve = async (
  settings: Settings,
  { log, announce, files, environment }: Parts,
): Promise<void> => {
  const { host, port = PORT, adminPort, addressHeader, trustedProxies } = settings;
  const client = createClientAddress({
    ...{ header: addressHeader, trusted: trustedProxies, warn: log.error },
  });
  const mounted = await mount(settings, { log, files, clientAddress: client.of });
  const { traffic, tryNow, setServiceToken, addressFile } = mounted;
  const door = await listen({
    ...{ name: 'PORT', host, port, nextFree: settings.port === undefined },
    answer: (request, address) => {
      client.note(request, address);
      return mounted.answer(request);
    },
  });
  const adminDoor =
    adminPort === undefined
      ? undefined
      : await listen({ name: 'ADMIN_PORT', host, port: adminPort, answer: mounted.answerAdmin });
  // A signal that nobody listens for would end the process.
  const ignore = onSignals({
    SIGUSR2: () => {
      if (!tryNow) return log.info('SIGUSR2: nothing waits to be passed on');
      log.info('tries again now');
      tryNow();
    },
    SIGHUP: () => {
      if (!setServiceToken) return log.info('SIGHUP: nothing to read again without `SERVICE_URL`');
      try {
        setServiceToken(readServiceToken(environment));
        log.info('read the token again');
      } catch (error) {
        log.error(`goes on with the token that it has: ${messageOf(error)}`);
      }
    },
  });
  const stopped = untilStopped();
  const url = `http://${nameOf(host)}:${door.port}`;
  mounted.start(mounted.isLocal ? url : '');
  if (addressFile) writeFileSync(addressFile, `${url}\n`, { mode: FILE_MODE });
  log.info(mounted.target);
  log.info(`listens at ${door.url}`);
  if (adminDoor) log.info(`metrics and health at ${adminDoor.url}`);
  announce(announcementOf({ url, tag: mounted.tag(), readToken: mounted.readToken, settings }));
  const logging = setInterval(() => log.info(traffic.line()), LOG_EVERY_MS);

  await stopped;
  ignore();
  clearInterval(logging);
  // Answers the requests under way and finishes the deliveries under way. All other rows are passed on later.
  const all = Promise.all([mounted.stop(), door.end(), adminDoor?.end()]);
  const isLate = await within(STOP_MS, all);
  await mounted.close();
  log.info(`${isLate ? 'stopped before all was done' : 'stopped'}. ${traffic.line()}`);
};

/** The name by which this machine reaches an address to listen at, which may stand for all addresses. */
const nameOf = (host: string): string => {
  if (isLocalName(host) || host === '0.0.0.0' || host === '::') return 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
};
