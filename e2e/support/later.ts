import type { Guest } from './guest.js';
import type { Site } from './site.js';
import type { TagStyle } from './tagged.js';

const NAME = 'twoMinutesLater';

/**
 * A page whose clock is two minutes ahead, so that the time of what a page held that died just now is over:
 * options and style for `site.tagged`.
 */
export const later = (guest: Guest) => {
  guest.allowGlobals(NAME);
  return {
    options: { now: NAME },
    head: `<script>function ${NAME}() { return Date.now() + 120_000; }</script>`,
  };
};

interface Parts {
  guest: Guest;
  site: Site & { tagged: (options?: Record<string, unknown>, style?: TagStyle) => string };
}

/** Puts such a page on the site. Answers with its address. */
export const laterPage = (
  { guest, site }: Parts,
  path: string,
  given: Record<string, unknown> = {},
  style: TagStyle = {},
): string => {
  const { options, head } = later(guest);
  return site.page(path, site.tagged({ ...given, ...options }, { ...style, head }));
};
