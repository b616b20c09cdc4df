import { messageOf } from '../interface/errors.js';
import { DEAD_USAGE, runDeadCommand } from './dead-command.js';
import { serveRelay } from './serve-relay.js';
import { readSettings, readStoreUrl } from './settings.js';
import { openStore } from './store.js';

const NAME = 'analytics-outbox-relay';
const now = () => new Date().toISOString();
const log = {
  info: (line: string) => console.log(`${now()} ${line}`),
  error: (line: string) => console.error(`${now()} ${line}`),
};

const run = async ([command, ...rest]: readonly string[]): Promise<void> => {
  if (command === undefined) return serveRelay(readSettings(process.env), log);
  if (command !== 'dead') throw new Error(`usage: ${NAME} | ${NAME} ${DEAD_USAGE}`);
  const { queue, close } = await openStore(readStoreUrl(process.env));
  try {
    await runDeadCommand(rest, queue.deadLetters, (line) => console.log(line));
  } finally {
    await close();
  }
};

run(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`${NAME}: ${messageOf(error)}`);
  process.exit(1); // a connection or a timer that is open already must not keep it alive
});
