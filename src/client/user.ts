import { getItem, setItem } from './page.js';

/** The identified user, on this page and on later pages of the site. */
export const createUser = (name: string, mayStore: () => boolean) => {
  const key = `${name} user`;
  /** The user that this page has read or set last; null after a reset. */
  let user: string | null | undefined;

  const set = (value: string | null): void => {
    user = value;
    if (mayStore()) setItem(key, value ?? ''); // an empty value tells other tabs of a reset
  };
  const current = (): string | undefined => {
    const stored = mayStore() ? getItem(key) : null;
    if (stored !== null) user = stored; // if the site has cleared its storage, the page still knows the user
    return user || undefined;
  };

  return {
    set,
    current,
    /** Called when storage may be used. A user that was set before that counts, and not the stored one. */
    begin: (): unknown => (user === undefined ? current() : set(user)),
  };
};
