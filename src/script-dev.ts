import { createDeveloper } from './dev/developer.js';
import { isSegments, watchMethods } from './dev/methods.js';
import { createSay, cry } from './dev/say.js';
import { OURS } from './client/tag.js';

type Step = [what: string, detail: unknown];

const name = decodeURIComponent(import.meta.url.split('#')[1]!);
const analytics = (window as unknown as Record<string, Record<symbol, Step[]>>)[name];
const steps = analytics?.[OURS];
const say = createSay();
// The tag asks for this file on local hosts, and wherever it has `data-debug`, which may be `no`.
if (!steps) say(`window.${name} is taken: use data-global, in the stub too`);
else if (
  !/^(false|0|no|off)$/i.test((steps[0]?.[1] as HTMLElement | null)?.dataset['debug'] as string)
) {
  const tell = createDeveloper({ say, refuse: cry, mayBeDirect: true });
  if (isSegments(analytics))
    say(`Segment's snippet uses window.${name}, too: use data-global, in the stub too`);
  else watchMethods(analytics, say);
  // From now on steps are told as they happen; those so far first.
  steps.push = (...more) => {
    for (const step of more) tell(...step);
    return 0;
  };
  steps.push(...steps.splice(0));
}
