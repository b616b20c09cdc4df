import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FACTS } from '../../src/client/consent.js';
import type { Analytics } from '../../src/client/types.js';
import { pass, passUntil } from '../support/clock.js';
import { startTracker } from '../support/shop.js';
import { DIRECT } from '../support/site.js';
import { openTab } from '../support/tab.js';

const WORDS = ['event', 'identify', 'reset', 'granted', 'denied'] as const;
const PLACES = ['a page', 'another tab'] as const;

/** A call, on the page of the tab or in another tab of the site; or the page's file comes, or its `init`; or the next page. */
type Step =
  | readonly [place: (typeof PLACES)[number], word: (typeof WORDS)[number]]
  | 'file'
  | 'init'
  | 'next page';

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...PLACES), fc.constantFrom(...WORDS)) },
  { weight: 1, arbitrary: fc.constantFrom('file', 'init', 'next page') },
);

/** A tag without options: its page calls `init`. */
const NO_OPTIONS = { baseUrl: undefined, token: undefined, project: undefined, channel: undefined };

/** Lets the steps happen to the real client while the service is away. Returns what there is in the end. */
const play = async (steps: readonly Step[], hasOptions: boolean) => {
  const tab = openTab();
  const { site, service } = tab;
  const page = globalThis as unknown as Record<symbol, unknown>;
  service.faults([{ status: 503 }]);
  const ownFacts = new Map();
  let other: Analytics | undefined;
  const inOtherTab = (work: (analytics: Analytics) => void) => {
    const facts = page[FACTS];
    page[FACTS] = ownFacts;
    other ??= startTracker(DIRECT).analytics;
    work(other);
    page[FACTS] = facts;
  };
  let hasFile = false;
  let hasStarted = false;
  const open = async () => {
    hasFile = hasStarted = deaf['a page'] = false;
    await tab.open(hasOptions ? {} : NO_OPTIONS);
  };
  const here = () => (site.win as { analytics?: Analytics }).analytics!;
  const file = () => {
    if (!hasFile) tab.install();
    hasFile = true;
    if (hasOptions) hear();
  };
  const init = () => {
    file();
    here().init(DIRECT as never);
    hear();
  };

  let isDenied = false;
  let wasDenied = false;
  /** A denial of which only its own page knows. If it is taken back there, it was no denial for the others. */
  let isUnheard = false;
  let isVague = false;
  let user: string | undefined;
  /** The user as far as started trackers have heard. */
  let heard: string | undefined;
  /** The user as the page has said last: only the newest word of others is kept. */
  let own: string | undefined;
  /** The events that may arrive, each with who may be its user, and whether a started tracker has taken it. */
  const allowed = new Map<string, { users: unknown[]; isTaken: boolean }>();
  /** Where a denial is known, so that calls do nothing. A page is not granted consent by another one, but by the next start. */
  const deaf = { 'a page': false, 'another tab': false };
  const hear = () => {
    if (hasStarted) return;
    hasStarted = true;
    if (isUnheard) {
      allowed.clear();
      deaf['another tab'] = true;
    }
    deaf['a page'] = isDenied;
    isUnheard = false;
    heard = user;
  };
  inOtherTab(() => undefined);
  await open();
  for (const [i, one] of steps.entries()) {
    await pass(10);
    if (one === 'file') file();
    else if (one === 'init') init();
    // Without its project in the tag, a stub keeps nothing for the next page.
    else if (one === 'next page') await (hasOptions && open());
    else {
      const [place, word] = one;
      const name = `${word} ${i}`;
      const call = (analytics: Analytics) => {
        if (word === 'event' || word === 'identify') analytics[word](name);
        else if (word === 'reset') analytics.reset();
        else analytics.setConsent(word);
      };
      if (place === 'a page') call(here());
      else inOtherTab(call);
      const isTaken = place === 'another tab' || hasStarted;
      if (word === 'denied') {
        isDenied = wasDenied = true;
        user = heard = own = undefined;
        isUnheard = !isTaken;
        if (isTaken) Object.assign(deaf, { 'a page': hasStarted, 'another tab': true });
        for (const [event, of] of allowed) if (isTaken || !of.isTaken) allowed.delete(event);
      } else if (word === 'granted') {
        if (isUnheard) isVague = true;
        isDenied = isUnheard = deaf[place] = false;
      } else if (!deaf[place] && (!isDenied || (isUnheard && isTaken))) {
        if (word === 'event') allowed.set(name, { users: [user, isTaken ? heard : own], isTaken });
        else user = word === 'identify' ? name : undefined;
        if (isTaken && word !== 'event') heard = user;
        if (place === 'a page' && word !== 'event') own = user;
      }
    }
    // As the browser tells the other tabs.
    site.say(site.win, 'storage');
  }
  await pass(10);
  init();
  site.say(site.win, 'storage');
  service.faults([]);
  const all = [...allowed.keys()];
  if (!wasDenied) await passUntil(() => service.has(all), 120_000);
  await pass(120_000);
  const { consent, userId } = here().status();
  inOtherTab(({ stop }) => stop());
  here().stop();
  const events = service.stored().filter(({ event }) => event);
  return { allowed, wasDenied, isDenied, isVague, user, events, consent, userId };
};

it('are those of their time, whoever says them again: the stub, the calls before `init`, or another tab', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), fc.boolean(), async (steps, hasOptions) => {
      const { allowed, wasDenied, isDenied, isVague, user, events, consent, userId } = await play(
        steps,
        hasOptions,
      );
      const names = events.map(({ event }) => event as string);
      // Nothing from before a denial, or from under one, and nothing twice.
      expect(new Set(names).size).toBe(names.length);
      expect(names.filter((name) => !allowed.has(name))).toEqual([]);
      for (const { event, user_id } of events)
        if (user_id && !isVague) expect(allowed.get(event as string)!.users).toContain(user_id);
      if (isDenied) expect(consent).toBe('denied');
      if (userId && !isVague) expect(userId).toBe(user);
      // Where nobody has denied, nothing is lost, and the newest user is known.
      if (!wasDenied)
        expect([names.toSorted(), userId]).toEqual([[...allowed.keys()].sort(), user]);
    }),
    { numRuns: 60 },
  );
});
