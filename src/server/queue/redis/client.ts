import { objectWith } from '../../check-options.js';

/**
 * The part of a connected client of the package `redis` (version 5) that is used. With it the types of the package are
 * not needed. Answers of scripts are lists, texts and numbers in both versions of the protocol.
 */
export interface RedisClient {
  sendCommand(args: string[]): Promise<unknown>;
}

/** The kind of an option that takes such a client. */
export const REDIS_CLIENT = objectWith('sendCommand');

/** The name of a key. The braces keep all keys on one node of a cluster, so that scripts may use them. */
export const keyOf = (prefix: string, name: string): string => `{${prefix}}:${name}`;

/** A script that Redis runs as one atomic step. It is sent as its hash, or as a whole if Redis does not know it. */
export const createScript = (client: RedisClient, source: string, keys: readonly string[]) => {
  let hash: Promise<unknown> | undefined;
  return async (...args: (string | number)[]): Promise<unknown> => {
    const rest = [String(keys.length), ...keys, ...args.map(String)];
    hash ??= client.sendCommand(['SCRIPT', 'LOAD', source]);
    try {
      return await client.sendCommand(['EVALSHA', String(await hash), ...rest]);
    } catch (error) {
      hash = undefined; // also when it could not be loaded: the next call asks again
      if (!/NOSCRIPT/.test(String(error))) throw error;
      return client.sendCommand(['EVAL', source, ...rest]);
    }
  };
};

/** Warnings about the set-up of Redis, for the operator. None if Redis does not tell its set-up. */
export const warningsOf = async (client: RedisClient): Promise<string[]> => {
  const ask = async (...args: string[]): Promise<string> => {
    try {
      return String(await client.sendCommand(args));
    } catch {
      return ''; // a hosted Redis may refuse CONFIG
    }
  };
  const policy = /maxmemory_policy:(\S+)/.exec(await ask('INFO', 'memory'))?.[1] ?? 'noeviction';
  const isAppending = !/aof_enabled:0/.test(await ask('INFO', 'persistence'));
  const savesNever = /^save,$/.test(await ask('CONFIG', 'GET', 'save'));
  const loss = savesNever
    ? 'keeps nothing on disk, and what waits is lost when it ends'
    : 'writes to disk now and then only, and what waits since is lost when it is killed';
  return [
    ...(policy === 'noeviction'
      ? []
      : [
          `Redis deletes records when its memory is full: set maxmemory-policy noeviction, not ${policy}`,
        ]),
    ...(isAppending ? [] : [`Redis ${loss}: set appendonly yes`]),
  ];
};
