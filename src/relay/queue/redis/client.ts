import { objectWith } from '../../check-options.js';

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
