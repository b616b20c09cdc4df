import { shelf } from './browser/shelf.js';

/** The identified user, on this page and on later pages of the site. */
export const createIdentity = (name: string, mayStore: () => boolean) => {
  const key = `${name} user`;
  /** What this page has read or set last; null after a reset. */
  let user: string | null | undefined;

  const set = (value: string | null): void => {
    user = value;
    // Replaced, since a former user's id must not stay. An empty value tells other tabs of a reset.
    if (mayStore()) shelf.replace(key, value ?? '');
  };

  /** What another tab has set counts. A missing key is no reset: the site has cleared its storage. */
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
    /** Storage may not be used for now: the page goes on with the user that is stored by now. */
    putOff: read,
    forget: (): void => {
      user = null;
      shelf.set(key, undefined);
    },
  };
};

export type Identity = ReturnType<typeof createIdentity>;
