/** What the judge looks at a record, or a request, for. */
export type Check = 'lost' | 'once' | 'one fate' | 'order' | 'holder' | 'honest' | 'penalty';

export interface Rule {
  check: Check;
  /** Share of what the check looked at. The excuse must not be used more often. */
  ceiling: number;
}

/** An excuse that passes more than this hides more than it explains. */
const ONE_PERCENT = 0.01;

const upTo = (ceiling: number, check: Check): Rule => ({ check, ceiling });
const rarely = (check: Check): Rule => upTo(ONE_PERCENT, check);

/**
 * Causes for which the judge lets something pass that seems to break an invariant: nobody could have prevented
 * it, or the promise says so. Where the world itself brings a cause about more often, it has a higher ceiling.
 */
export const EXCUSES = {
  /** The user does this in one world of seven, to all that waits there. */
  'lost: the user cleared the site data': upTo(0.04, 'lost'),
  'lost: consent was withdrawn': rarely('lost'),
  /** Without consent nothing is stored, so all of it ends with its page. */
  'lost: its page ended before consent was given': upTo(0.02, 'lost'),
  'lost: its page was killed before it could be stored': rarely('lost'),
  /** Storage fails for a while in two worlds of five, and one action of twenty kills a page. */
  'lost: its page was killed while it had no database': upTo(0.02, 'lost'),
  'lost: its page left while both stores failed': rarely('lost'),
  'lost: the browser was killed before localStorage was on the disk': rarely('lost'),

  'once: no answer came while its page lived': rarely('once'),
  'once: its page was stopped while hidden, before the request was named': rarely('once'),
  /** It believes that it still holds what another has claimed meanwhile. */
  'once: the clock was set while a page held it': rarely('once'),
  /** Frozen or in the back/forward cache for longer than it may keep others from what it has noted. */
  'once: a page without a database had paused': rarely('once'),
  /** A known gap: a page sends from memory what it may have stored, and others claim it as storage goes on. */
  'once: a write that hung was stored after all': rarely('once'),
  'once: storage faults met': rarely('once'),

  'one fate: no answer came while its page lived': rarely('one fate'),
  'one fate: its page stopped while the request was in flight': rarely('one fate'),
  'one fate: its page stopped before the outcome was stored': rarely('one fate'),
  'one fate: the clock was set before the outcome was stored': rarely('one fate'),
  'one fate: the clock was set while a page held it': rarely('one fate'),
  'one fate: a page without a database had paused': rarely('one fate'),
  'one fate: a write that hung was stored after all': rarely('one fate'),
  'one fate: a page that had paused dropped it, too': rarely('one fate'),
  'one fate: storage faults met': rarely('one fate'),

  /**
   * A page that is left hands off all that fits at once, and is not told when a beacon has arrived. One action of
   * six hides or leaves a page.
   */
  'order: handed off': upTo(0.025, 'order'),
  'order: a request outlived its page': rarely('order'),
  'order: storage or the clock failed': rarely('order'),

  'holder: one of the pages had paused, and repeats are known': rarely('holder'),
  'holder: the clock was set as the records were claimed or sent': rarely('holder'),
  'holder: the clock was set while a page held it': rarely('holder'),
  /** A page that leaves could neither store nor note that it had given it to the browser: it gives it once more. */
  'holder: handed off as its page left, and repeats are known': rarely('holder'),
  'holder: a page without a database had paused': rarely('holder'),
  'holder: a write that hung was stored after all': rarely('holder'),
  'holder: storage faults met': rarely('holder'),

  'honest: the browser refused the handoff': rarely('honest'),
  'honest: its page was killed before it sent what it had named': rarely('honest'),
  'honest: the clock was set before it sent what it had named': rarely('honest'),
  'honest: storage faults met': rarely('honest'),

  'penalty: storage or the clock failed': rarely('penalty'),
} satisfies Record<string, Rule>;

export type Excuse = keyof typeof EXCUSES;
