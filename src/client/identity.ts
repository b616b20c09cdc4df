import { shelf } from './browser/shelf.js';

/** The identified user, on this page and on later pages of the site. */
export const createIdentity = (name: string, mayStore: () => boolean) => {
  const key = `${name} user`;
  /** What this page has read or set last; null after a reset. */
  let user: string | null | undefined;

  const set = (value: string | null): void => {
    user = value;
    // `replace`, since the id of a former user must not stay if there is no room. An empty value tells other tabs of a
    // reset.
    if (mayStore()) shelf.replace(key, value ?? '');
  };

  /** Takes over what another tab has set. A missing key is no reset: the site has cleared its storage. */
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
    /** Called when storage may be used. */
    begin: (): void => {
      if (user !== undefined) set(user);
      else read();
    },
    /** Called when storage may not be used for now. The page goes on with the user that is stored at that moment. */
    putOff: read,
    forget: (): void => {
      user = null;
      shelf.set(key, undefined);
    },
  };
};

export type Identity = ReturnType<typeof createIdentity>;
