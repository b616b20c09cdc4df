import { readFileSync } from 'node:fs';
import { messageOf } from '../util/errors.js';
import { COPY_USAGE, runCopy } from './copy-command.js';
import { DEAD_USAGE, runDeadCommand } from './dead-command.js';
import { EXPORT_USAGE, runExportCommand } from './export-command.js';
import { refuseFullQueue } from './gone-settings.js';
import { IMPORT_USAGE, runImport } from './import-command.js';
import { createLog } from './log.js';
import { NOTIFY_USAGE, runNotify } from './notify-command.js';
import { openDeadLetters } from './open-dead-letters.js';
import { withoutPassword } from './open-store.js';
import { serve } from './serve.js';
import { settingLines } from './settings-table.js';
import { readLogFormat, readPlaces, readSettings, type Places } from './settings.js';
import { runTail, TAIL_USAGE } from './tail.js';

const NAME = 'analytics-outbox';
const USAGE = [
  `usage: ${NAME}`,
  ...[
    ...[TAIL_USAGE, COPY_USAGE, IMPORT_USAGE, EXPORT_USAGE, DEAD_USAGE, NOTIFY_USAGE],
    ...['help', '--version'],
  ].map((line) => `       ${NAME} ${line}`),
].join('\n');
const SETTINGS =
  'Without a command it serves, and needs no setting. It reads these from the environment; defaults in parentheses:';
const help = (): string => [USAGE, '', SETTINGS, ...settingLines()].join('\n');

const print = (line: string): void => console.log(line);
const say = (line: string): void => console.error(line);

/** The program is one file in `dist`, beside which the package's own description stands. */
const readVersion = (): string => {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
};

/** Always ends the process, so that no open timer or connection keeps it alive. */
const runServer = async (): Promise<never> => {
  const environment = process.env;
  const format = readLogFormat(environment);
  const log = createLog(format);
  try {
    const announce = format === 'json' ? log.info : print;
    const files = new URL('./', import.meta.url);
    await refuseFullQueue(environment);
    await serve(readSettings(environment, log.error), { log, announce, files, environment });
  } catch (error) {
    log.error(`does not start: ${messageOf(error)}`);
    process.exit(1);
  }
  process.exit();
};

/** Where the database and the targets are. It is said first, since a command may be run in another folder than it is meant for. */
const placesSaid = (): Places => {
  const places = readPlaces(process.env);
  say(`${NAME}: ${withoutPassword(places.store.databaseUrl)}`);
  return places;
};

const runDead = async (args: readonly string[]): Promise<void> => {
  const letters = await openDeadLetters(placesSaid());
  try {
    await runDeadCommand(args, letters, { print, say });
  } finally {
    await letters.close();
  }
};

/** The exit code says whether both sides have the same rows. */
const runExport = async (args: readonly string[]): Promise<void> => {
  if (!(await runExportCommand(args, placesSaid(), { print, say }))) process.exitCode = 1;
};

const run = async ([word, ...rest]: readonly string[]): Promise<void> => {
  if (word === undefined) return runServer();
  if (/^(help|--help|-h)$/.test(word)) return print(help());
  if (/^(--version|-v)$/.test(word)) return print(readVersion());
  if (word === 'copy') return runCopy(rest, { print, say });
  if (word === 'import')
    return runImport(rest, { places: placesSaid(), input: process.stdin, print, say });
  if (word === 'export') return rest[0] === 'dead' ? runDead(rest.slice(1)) : runExport(rest);
  if (word === 'notify') return runNotify(rest, { environment: process.env, print });
  if (word !== 'tail') throw new Error(`unknown argument "${word}"\n${USAGE}`);
  // The reader of the output may close it, as `head` does.
  process.stdout.on('error', () => process.exit());
  return runTail(rest, {
    ...{ environment: process.env, print, say },
    ...(process.stdout.isTTY && { terminal: process.stdout }),
  });
};

// The reader of the output, such as a log collector, may close it. The program goes on without it.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

run(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`${NAME}: ${messageOf(error)}`);
  process.exit(1); // no open timer or connection may keep the process alive
});
