import { shelf } from './browser/shelf.js';

/** Who is identified, on this page and on the site's later ones. */
export const createIdentity = (name: string, mayStore: () => boolean) => {
  const key = `${name} user`;
  /** As this page knows it: null after a reset. */
  let user: string | null | undefined;

  const set = (value: string | null): void => {
    user = value;
    // A former user's id must not stay. Empty, it tells other tabs of a reset.
    if (mayStore()) shelf.replace(key, value ?? '');
  };

  /** What another tab has set counts. Where nothing stands there, the site has cleared it: nobody has left. */
  const read = (): void => {
    const stored = shelf.get(key);
    if (stored !== undefined) user = stored || null;
  };

  return {
    set,
    current: (): string | undefined => {
      if (mayStore()) read();
      return user ?? undefined;
    },
    /** Storage may be used from now on. */
    begin: (): void => {
      if (user !== undefined) set(user);
      else read();
    },
    /** It may not be used for now: this page goes on with what stands there. */
    putOff: read,
    forget: (): void => {
      user = null;
      shelf.set(key, undefined);
    },
  };
};

export type Identity = ReturnType<typeof createIdentity>;
