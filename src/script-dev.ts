import type { Tell } from './client/analytics.js';
import { createDeveloper } from './dev/developer.js';
import { isSegments, watchMethods } from './dev/methods.js';
import { offerInspector } from './dev/offer-inspector.js';
import { createSay, cry } from './dev/say.js';
import { createWatched, note, ofPage, type Tracked } from './dev/watched.js';
import { outsideZone } from './client/page.js';
import { OURS } from './client/tag.js';
import { mayFail } from './util/may-fail.js';

type Step = Parameters<Tell>;

const name = decodeURIComponent(import.meta.url.split('?')[1]!);
const analytics = (window as unknown as Record<string, Record<symbol, Step[]>>)[name];
const steps = analytics?.[OURS];
const say = createSay();

/** The inspector is a file of its own, beside this one. */
const loadInspector = () =>
  import(import.meta.url.replace(/[^/]*$/, 'outbox-inspector.js')).then(
    ({ openInspector }: { openInspector: () => unknown }) => mayFail(openInspector),
    () => say('outbox-inspector.js is missing: deploy it beside outbox-dev.js'),
  );

// The tag asks for this file on local hosts, and wherever it has `data-debug`, which may be `no`.
if (!steps) say(`window.${name} is taken: use data-global, in the stub too`);
else if (
  !/^(false|0|no|off)$/i.test((steps[0]?.[1] as HTMLElement | null)?.dataset['debug'] as string)
) {
  const tell = createDeveloper({ say, refuse: cry });
  const watched = createWatched(name, analytics as unknown as Tracked);
  ofPage().watched.add(watched);
  if (isSegments(analytics))
    say(`Segment's snippet uses window.${name}, too: use data-global, in the stub too`);
  else watchMethods(analytics, say, name);
  // From now on steps are told as they happen; those so far first.
  steps.push = (...more) =>
    // The call came from the page's code, so in its zone.
    outsideZone(() => {
      for (const step of more) {
        tell(...step);
        note(watched, step[0], step[1]);
      }
      return 0;
    });
  steps.push(...steps.splice(0));
  offerInspector(loadInspector, watched.tag);
}
