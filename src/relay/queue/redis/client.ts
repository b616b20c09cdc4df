import { objectWith } from '../../check-options.js';
import { COUNT_DEAD, MIGRATE } from './scripts.js';

/**
 * The part of a connected client of the `redis` package (version 5) that is used, so that its types are not
 * needed. Answers of scripts are lists, texts and numbers in both versions of the protocol.
 */
export interface RedisClient {
  sendCommand(args: string[]): Promise<unknown>;
}

/** How an option that takes one is checked. */
export const REDIS_CLIENT = objectWith('sendCommand');

interface Keys {
  keys: readonly string[];
  args: readonly (string | number)[];
}

/**
 * A script that Redis runs as one atomic step. It is sent by its hash, and as a whole when the server does
 * not know it, as after a restart.
 */
export const createScript = (client: RedisClient, source: string) => {
  let sha: Promise<string> | undefined;
  const load = () => client.sendCommand(['SCRIPT', 'LOAD', source]) as Promise<string>;

  return async ({ keys, args }: Keys): Promise<unknown> => {
    const rest = [String(keys.length), ...keys, ...args.map(String)];
    sha ??= load();
    try {
      return await client.sendCommand(['EVALSHA', await sha, ...rest]);
    } catch (error) {
      sha = undefined; // also when it could not be loaded: the next call asks again
      if (!/NOSCRIPT/.test(String(error))) throw error;
      return client.sendCommand(['EVAL', source, ...rest]);
    }
  };
};

/** Of the keys and what stands in them. */
const VERSION = 2;
/** How often it is asked whether a process of an older version has put something. */
const AGAIN_MS = 10_000;

/**
 * Returns a function that makes sure, before the first use and now and then, that what stands in Redis is of this
 * version. It takes over what an older version has left, and refuses what a newer one has written.
 */
export const createPrepare = (client: RedisClient, prefix: string, keys: readonly string[]) => {
  const migrate = createScript(client, MIGRATE);
  const countDead = createScript(client, COUNT_DEAD);
  const name = `{${prefix}}:version`;
  const old = `{${prefix}}:heads`;
  let checked: Promise<void> | undefined;
  let at = 0;

  const check = async (): Promise<void> => {
    const found = await client.sendCommand(['GET', name]);
    if (Number(found ?? 0) > VERSION) {
      throw new Error(
        `what stands in Redis under ${prefix} is of version ${String(found)}, and this program knows ` +
          `version ${VERSION}: use the newer program again, or another prefix`,
      );
    }
    if (!found) {
      await countDead({ keys, args: [] });
      await client.sendCommand(['SET', name, String(VERSION)]);
    }
    if (!Number(await client.sendCommand(['EXISTS', old]))) return;
    while (Number(await migrate({ keys, args: [`{${prefix}}:`] })));
  };

  return (): Promise<void> => {
    const time = performance.now();
    if (!checked || time - at > AGAIN_MS) {
      at = time;
      checked = check().catch((error: unknown) => {
        checked = undefined; // the next call asks again
        throw error;
      });
    }
    return checked;
  };
};

/** What the operator should know of how Redis is set up. Nothing where Redis does not tell. */
export const warningsOf = async (client: RedisClient): Promise<string[]> => {
  const ask = async (...args: string[]): Promise<string> => {
    try {
      return String(await client.sendCommand(args));
    } catch {
      return ''; // a hosted Redis may refuse CONFIG
    }
  };
  const policy = /maxmemory_policy:(\S+)/.exec(await ask('INFO', 'memory'))?.[1];
  const isAppending = /aof_enabled:(\d)/.exec(await ask('INFO', 'persistence'))?.[1];
  const [, saves] = /^save,(.*)$/.exec(await ask('CONFIG', 'GET', 'save')) ?? [];
  const warnings: string[] = [];
  if (policy && policy !== 'noeviction') {
    warnings.push(
      `Redis deletes records when its memory is full: set maxmemory-policy noeviction, not ${policy}`,
    );
  }
  if (isAppending === '0') {
    warnings.push(
      saves === ''
        ? 'Redis keeps nothing on disk, and what waits is lost when it ends: set appendonly yes'
        : 'Redis writes to disk now and then only, and what waits since is lost when it is killed: set appendonly yes',
    );
  }
  return warnings;
};
