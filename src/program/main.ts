import { messageOf } from '../interface/errors.js';
import { DEAD_USAGE, runDeadCommand } from './dead-command.js';
import { createLog } from './log.js';
import { serveRelay } from './serve-relay.js';
import { readLogFormat, readSettings, readStoreSettings, settingLines } from './settings.js';
import { openStore } from './store.js';
import { readVersion } from './version.js';

const NAME = 'analytics-outbox-relay';
const USAGE = `usage: ${NAME} | ${NAME} ${DEAD_USAGE} | ${NAME} --help | ${NAME} --version`;
const SETTINGS =
  'It reads these from the environment; those with a default, in parentheses, may be left out:';
const help = (): string => [USAGE, '', SETTINGS, ...settingLines()].join('\n');

/** Ends the process in any case: nothing that is late may keep it alive. */
const serve = async (): Promise<never> => {
  const log = createLog(readLogFormat(process.env));
  try {
    await serveRelay(readSettings(process.env, log.error), log);
  } catch (error) {
    log.error(`does not start: ${messageOf(error)}`);
    process.exit(1);
  }
  process.exit();
};

const run = async ([command, ...rest]: readonly string[]): Promise<void> => {
  if (command === '--help' || command === '-h') return console.log(help());
  if (command === '--version' || command === '-v') return console.log(readVersion());
  if (command === undefined) return serve();
  if (command !== 'dead') throw new Error(`unknown argument "${command}"\n${USAGE}`);
  const { storeUrl, ...settings } = readStoreSettings(process.env);
  const { queue, close } = await openStore(storeUrl, settings);
  try {
    const print = (line: string) => console.log(line);
    const say = (line: string) => console.error(line);
    await runDeadCommand(rest, queue.deadLetters, { print, say });
  } finally {
    await close();
  }
};

// Whoever reads what it says may go away, such as `head` or a log collector. The program goes on without.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

run(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`${NAME}: ${messageOf(error)}`);
  process.exit(1); // a connection or a timer that is open already must not keep it alive
});
