import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../server/records.js';
import { causeOf } from '../server/deliver/fetch.js';
import type { Refused, Row } from '../service.js';
import type { Voice } from './log.js';
import { plain } from './plain.js';
import { readStream } from './read-stream.js';
import { readTailSettings } from './settings.js';

export const TAIL_USAGE =
  'tail [<address>] [--json] [--event <name>]… [--not <name>]… [--project <id>] [--user <id>] [--refused]';

const pairsOf = (values: object): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');

const timeOf = (iso: string): string => new Date(iso).toTimeString().slice(0, 8);

/** A row as a line. */
export const lineOf = ({ type, body, received_at, project, channel, user_id }: Row): string => {
  const { event, icon, tags, properties } = body as unknown as Record<string, unknown>;
  const what = type === 'identify' ? 'identify' : [icon, event].filter(Boolean).join(' ');
  const place = channel === undefined ? project : `${project} · ${channel}`;
  const values = pairsOf((tags ?? properties ?? {}) as object);
  return plain(
    [timeOf(received_at), place, what, user_id ?? '', values].filter(Boolean).join('  '),
  );
};

const refusedLine = ({ received_at, status, reason, message }: Refused): string =>
  plain(`${timeOf(received_at)}  refused ${status} (${reason})  ${message}`);

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
  signal?: AbortSignal;
  /** Milliseconds before a lost connection is tried again. @default 1000 */
  pause?: number;
}

/** Prints rows as they arrive, until the program is stopped. Goes on where it was after a lost connection. */
export const runTail = async (args: readonly string[], effects: Effects): Promise<void> => {
  const { environment, print, say, signal, pause = 1_000 } = effects;
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
  const [address = read(folder, 'address') ?? 'http://localhost:8787', ...more] = positionals;
  if (more.length) throw new Error(`unknown argument "${more[0]}"\nusage: ${TAIL_USAGE}`);
  if (!/^https?:/.test(address) || !URL.canParse(address))
    throw new Error(`"${address}" is no address: write http://${address}`);
  const query = new URLSearchParams({ format: 'sse' });
  for (const name of ['project', 'user'] as const) if (values[name]) query.set(name, values[name]);
  for (const name of ['event', 'not'] as const)
    for (const value of values[name] ?? []) query.append(name, value);
  const token = readToken ?? read(folder, 'read-token');
  const url = `${address.replace(/\/+$/, '')}/rows?${query}`;
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
      const isRefused = type === 'refused' && values.refused;
      if (type !== 'row' && !isRefused) continue;
      if (values.json) print(plain(data));
      else
        print(
          isRefused ? refusedLine(JSON.parse(data) as Refused) : lineOf(JSON.parse(data) as Row),
        );
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

/** What the service says in place of rows. */
const refusalOf = async (response: Response): Promise<string> => {
  const body = parseJson(await response.text()) as { message?: unknown } | undefined;
  const words = typeof body?.message === 'string' ? `: ${body.message}` : '';
  return `the service answers ${response.status}${words}`;
};

/** What trying again does not mend. */
class TailError extends Error {}
