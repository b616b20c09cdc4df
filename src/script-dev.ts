import { createDeveloper } from './client/dev/developer.js';
import { watchMethods } from './client/dev/methods.js';
import { createSay, cry } from './client/dev/say.js';
import { OURS } from './client/tag.js';

type Step = [what: string, detail: unknown];

const name = decodeURIComponent(import.meta.url.split('#')[1]!);
const analytics = (window as unknown as Record<string, Record<symbol, Step[]>>)[name];
const steps = analytics?.[OURS];
const { debug } = (steps?.[0]?.[1] as HTMLElement | undefined)?.dataset ?? {};
if (!steps) console.warn(`analytics-outbox: window.${name} is taken: use data-global`);
// The tag asks for this file on local hosts, and wherever it has `data-debug`, which may be `false`.
if (analytics && steps && !/^(false|0|no|off)$/i.test(debug!)) {
  const say = createSay();
  const tell = createDeveloper({ say, refuse: cry, mayBeDirect: true });
  watchMethods(analytics, say);
  // From now on steps are told as they happen; those so far first.
  steps.push = (...more) => {
    for (const step of more) tell(...step);
    return 0;
  };
  for (const step of steps.splice(0)) tell(...step);
}
