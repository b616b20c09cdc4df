import type { WriteToken } from './service-options.js';

/** SHA-256. A token is long and random, so it needs neither salt nor rounds. */
export const hashOf = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));

/** Takes the same time wherever the two differ. */
export const isSame = (a: Uint8Array, b: Uint8Array): boolean => {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
};

/** The token of an `Authorization: Bearer` header. */
export const bearerOf = ({ headers }: Request): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1];

/** What a token may do. */
export interface Grant {
  mayWrite: (project: string) => boolean;
}

/** Looks tokens up. Every one is compared, so the time does not tell which was nearly right. */
export const createTokens = (writeTokens: readonly WriteToken[]) => {
  const known = Promise.all(
    writeTokens.map(async ({ token, projects }) => ({
      hash: await hashOf(token),
      // Copied: what is allowed must not change under way.
      projects: projects === '*' ? undefined : new Set(projects),
    })),
  );
  return async (token: string): Promise<Grant | undefined> => {
    const given = await hashOf(token);
    const found = (await known).filter(({ hash }) => isSame(hash, given));
    if (!found.length) return undefined;
    return {
      mayWrite: (project) => found.some(({ projects }) => !projects || projects.has(project)),
    };
  };
};

export type Tokens = ReturnType<typeof createTokens>;
