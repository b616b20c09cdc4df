import type { Pass } from './doors.js';
import type { WriteToken } from './service-options.js';

/** SHA-256. A token is long and random, so it needs neither salt nor rounds. */
export const hashOf = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));

export const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Compares in the same time, wherever the two differ. */
export const isSame = (a: Uint8Array, b: Uint8Array): boolean => {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
};

/** The token of an `Authorization: Bearer` header. */
export const bearerOf = ({ headers }: Request): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1];

/**
 * Looks tokens up. They are compared by their hashes, so the time does not show how much of a wrong token was right. A
 * right token is remembered, so it is hashed only once.
 */
export const createTokens = (writeTokens: readonly WriteToken[]) => {
  const known = Promise.all(
    writeTokens.map(async ({ token, projects, rate }, index) => ({
      hash: await hashOf(token),
      // A copy, so that a later change of the list has no effect.
      projects: projects === '*' ? undefined : new Set(projects),
      own: rate === undefined ? undefined : { key: `${index}`, rate },
    })),
  );
  const passes = new Map<string, Pass>();

  return async (token: string): Promise<Pass | undefined> => {
    const remembered = passes.get(token);
    if (remembered) return remembered;
    const given = await hashOf(token);
    const found = (await known).filter(({ hash }) => isSame(hash, given));
    if (!found.length) return undefined;
    const pass = {
      mayWrite: (project: string) =>
        found.some(({ projects }) => !projects || projects.has(project)),
      own: found.find(({ own }) => own)?.own,
    };
    passes.set(token, pass);
    return pass;
  };
};

export type Tokens = ReturnType<typeof createTokens>;
