import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../server/records.js';
import { causeOf } from '../server/deliver/fetch.js';
import type { Erasure, Refused, Row } from '../service.js';
import type { Voice } from './log.js';
import { readStream } from './read-stream.js';
import { readTailSettings } from './settings.js';
import {
  createTerminalLines,
  erasedText,
  lineOf,
  plain,
  refusedLine,
  type Terminal,
} from './tail-lines.js';

const EXAMPLE = '`tail http://localhost:8787`';
export const TAIL_USAGE =
  'tail [<address>] [--json] [--event <name>]… [--not <name>]… [--project <id>] [--user <id>] [--refused]';

const read = (folder: string, name: string): string | undefined => {
  try {
    return readFileSync(join(folder, name), 'utf8').trim();
  } catch {
    return undefined; // the program has not run in this folder
  }
};

interface Effects extends Voice {
  /** The environment variables, which are those of the service if it is on this machine. */
  environment: NodeJS.ProcessEnv;
  /** Where `print` writes to, if that is a terminal. */
  terminal?: Terminal | undefined;
  signal?: AbortSignal;
  /** Milliseconds before a lost connection is tried again. @default 1000 */
  pause?: number;
}

/** Prints rows as they arrive, until the program is stopped. After a lost connection it goes on at its place. */
export const runTail = async (args: readonly string[], effects: Effects): Promise<void> => {
  const { environment, print, say, terminal, signal, pause = 1_000 } = effects;
  const { folder, readToken } = readTailSettings(environment);
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'boolean' },
      refused: { type: 'boolean' },
      event: { type: 'string', multiple: true },
      not: { type: 'string', multiple: true },
      project: { type: 'string' },
      user: { type: 'string' },
    },
  });
  const [given, ...more] = positionals;
  const own = read(folder, 'address');
  const address = given?.replace(/\/rows\/?$/, '') ?? own;
  if (address === undefined)
    throw new Error(`no program has run in ${folder}: name its address, as in ${EXAMPLE}`);
  if (more.length) throw new Error(`unknown argument "${more[0]}"\nusage: ${TAIL_USAGE}`);
  if (!/^https?:/.test(address) || !URL.canParse(address))
    throw new Error(`"${address}" is no address: write http://${address}`);
  const query = new URLSearchParams({ format: 'sse' });
  for (const name of ['project', 'user'] as const) if (values[name]) query.set(name, values[name]);
  for (const name of ['event', 'not'] as const)
    for (const value of values[name] ?? []) query.append(name, value);
  // The token of this folder is for its own program.
  const token = readToken ?? (address === own ? read(folder, 'read-token') : undefined);
  say(`rows of ${address}`);
  const url = `${address.replace(/\/+$/, '')}/rows?${query}`;
  const lines = terminal
    ? createTerminalLines(terminal, environment)
    : { row: lineOf, refused: refusedLine };
  /** What stands below the rows that were there at the start, once there are such rows. */
  let rule: (() => string) | undefined;
  let isStart = true;
  let last: string | undefined;
  let isLost = false;

  const follow = async (): Promise<void> => {
    const response = await fetch(url, {
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(last && { 'last-event-id': last }),
      },
      ...(signal && { signal }),
    });
    if (response.status === 401)
      throw new TailError(
        token === undefined
          ? `${address} asks for a token: set READ_TOKEN`
          : `${address} does not know the token that was given: compare READ_TOKEN with that of the service`,
      );
    if (!response.ok || !response.body) throw new Error(await refusalOf(response));
    const type = response.headers.get('content-type') ?? 'nothing';
    if (!type.startsWith('text/event-stream')) throw new Error(`there are no rows, but ${type}`);
    if (isLost) say(`connected to ${address} again`);
    isLost = false;
    for await (const { type, data, id } of readStream(response.body)) {
      if (id !== undefined) last = id;
      if (type === 'replaced')
        say(`${address} has other rows now: its store was replaced. Its newest follow`);
      if (type === 'erased') say(plain(erasedText(JSON.parse(data) as Erasure)));
      if (type === 'ready') isStart = false;
      const isRefused = type === 'refused' && values.refused;
      if (type !== 'row' && !isRefused) continue;
      if (!isStart && rule) print(rule());
      rule = isStart && !values.json && 'rule' in lines ? lines.rule : undefined;
      if (values.json) print(plain(data));
      else if (isRefused) print(lines.refused(JSON.parse(data) as Refused));
      else print(lines.row(JSON.parse(data) as Row));
    }
    throw new Error('the connection has ended');
  };

  while (!signal?.aborted) {
    try {
      await follow();
    } catch (error) {
      if (error instanceof TailError) throw error;
      if (signal?.aborted) return;
      if (!isLost) say(plain(`${address}: ${causeOf(error)}; trying again`));
      isLost = true;
      await sleep(pause);
    }
  }
};

/** The words of an answer without rows. */
const refusalOf = async (response: Response): Promise<string> => {
  const body = parseJson(await response.text()) as { message?: unknown } | undefined;
  const words = typeof body?.message === 'string' ? `: ${body.message}` : '';
  return `the service answers ${response.status}${words}`;
};

/** An error that does not pass by trying again. */
class TailError extends Error {}
