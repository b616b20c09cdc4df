import { getItem, setWord, timeOf } from './page.js';

/**
 * The identified user, on this page and on later pages of the site. Each word of who it is has its time, by the clock of
 * the device: an older one never takes the place of a newer one, whoever says it again.
 */
export const createUser = (name: string, mayStore: () => boolean) => {
  const key = `${name} user`;
  /** The user that this page has read or set last; empty after a reset. */
  let user = '';
  let time = 0;
  /**
   * Ids of users that `beforeSend` has made of others. It makes no other id of these, on later pages neither: there the
   * stored time ends in a half.
   */
  const made = new Set<unknown>();

  const set = (value: string, at = Date.now()): void => {
    user = value;
    time = at;
    if (!mayStore() || timeOf(key) > at) return;
    setWord(key, value, made.has(value) ? at - 0.5 : at); // an empty value tells other tabs of a reset
  };
  /** The user as of this time. */
  const current = (at = Infinity): string | undefined => {
    const stored = mayStore() ? getItem(key) : null;
    const storedAt = stored === null ? -1 : timeOf(key);
    // If the site has cleared its storage, the page still knows the user.
    if (storedAt >= time && storedAt <= at) {
      user = stored!;
      time = storedAt;
      if (Number(getItem(`${key} at`)) % 1) made.add(user);
    }
    return (time <= at && user) || undefined;
  };

  return {
    set,
    current,
    made,
    /** Called when storage may be used. A user that was set before that counts, unless the stored one is newer. */
    begin: (): unknown => time && set(user, time),
  };
};
