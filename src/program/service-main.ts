import { messageOf } from '../interface/errors.js';
import { COPY_USAGE, runCopy } from './copy-command.js';
import { createLog } from './log.js';
import { serveService } from './serve-service.js';
import { readServiceSettings, serviceSettingLines } from './service-settings.js';
import { readLogFormat } from './settings.js';
import { runTail, TAIL_USAGE } from './tail.js';
import { readVersion } from './version.js';

const NAME = 'analytics-outbox-service';
const USAGE = [
  `usage: ${NAME}`,
  ...[TAIL_USAGE, COPY_USAGE, '--help', '--version'].map((line) => `       ${NAME} ${line}`),
].join('\n');
const SETTINGS =
  'Without any setting it runs. It reads these from the environment; defaults in parentheses:';
const help = (): string => [USAGE, '', SETTINGS, ...serviceSettingLines()].join('\n');

const print = (line: string): void => console.log(line);
const say = (line: string): void => console.error(line);

/** Ends the process in any case: nothing that is late may keep it alive. */
const serve = async (): Promise<never> => {
  const format = readLogFormat(process.env);
  const log = createLog(format);
  try {
    const announce = format === 'json' ? log.info : print;
    await serveService(readServiceSettings(process.env, log.error), {
      log,
      announce,
      files: new URL('./', import.meta.url),
    });
  } catch (error) {
    log.error(`does not start: ${messageOf(error)}`);
    process.exit(1);
  }
  process.exit();
};

const run = async ([command, ...rest]: readonly string[]): Promise<void> => {
  if (command === undefined) return serve();
  if (command === '--help' || command === '-h') return print(help());
  if (command === '--version' || command === '-v') return print(readVersion());
  if (command === 'copy') return runCopy(rest, { print, say });
  if (command !== 'tail') throw new Error(`unknown argument "${command}"\n${USAGE}`);
  // Its reader is gone, such as `head`.
  process.stdout.on('error', () => process.exit());
  const terminal = process.stdout.isTTY ? process.stdout : undefined;
  return runTail(rest, { environment: process.env, print, say, terminal });
};

// Whoever reads what it says may go away, such as `head` or a log collector. The program goes on without.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

run(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`${NAME}: ${messageOf(error)}`);
  process.exit(1); // a connection or a timer that is open already must not keep it alive
});
