import type { Guest } from './guest.js';

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
