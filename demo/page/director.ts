import { verdictOf, type Call } from './calls.js';
import type { Demo } from './demo.js';
import { NAMES, SCENES, type Scene } from './scenes.js';

export type Result = { tone: 'ready' | 'running' | 'good' | 'odd' | 'bad'; words: string };

const seconds = (ms: number): string => `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;

/** What a scene has come to, by the rows of the service. */
export const resultOf = (
  calls: readonly Call[],
  readAt: number,
  since: { at: number; what: string | undefined },
): Result => {
  const verdicts = calls.map((call) => verdictOf(call, readAt));
  const count = (wanted: string) => verdicts.filter((verdict) => verdict === wanted).length;
  const [once, waiting] = [count('once'), count('waiting')];
  const last = Math.max(...calls.flatMap(({ rows }) => rows));
  const rest = (['dropped', 'unknown', 'lost', 'twice'] as const)
    .filter((verdict) => count(verdict))
    .map((verdict) => `, ${count(verdict)} ${verdict}`);
  if (calls.length && count('dropped') === calls.length)
    return { tone: 'odd', words: `${calls.length} of ${calls.length} dropped` };
  const of = `${once} of ${calls.length}`;
  if (waiting) return { tone: 'running', words: `${of} so far${rest.join('')}` };
  const when = Number.isFinite(last)
    ? since.what
      ? last > since.at
        ? `, ${seconds(last - since.at)} after ${since.what}`
        : `, before ${since.what}`
      : `, in ${seconds(last - since.at)}`
    : '';
  const tone = count('lost') + count('twice') ? 'bad' : rest.length ? 'odd' : 'good';
  return { tone, words: `${of}${rest.join('')}${when}` };
};

/** Another scene has begun. */
class Superseded extends Error {}
const TIMED_OUT_MS = 75_000;
/** In the tour, what a step has come to stays in sight for so long. */
const REST_MS = 1_500;

export interface Playing {
  id: string | undefined;
  /** Steps of the tour, and which one is on. */
  tour: { step: number; of: number; words: string } | undefined;
}

/** Plays one scene at a time, or the tour. Whatever begins ends what was going on. */
export const createDirector = (demo: Demo) => {
  const results = new Map<string, Result>();
  let playing: Playing = { id: undefined, tour: undefined };
  let run = 0;
  /** The scene that was played last. */
  let last: string | undefined;
  let setting: Promise<unknown> = Promise.resolve();

  const show = (next: Playing): void => {
    playing = next;
    demo.onChange();
  };

  const playScene = async (scene: Scene, own: number): Promise<void> => {
    const check = (): void => {
      if (own !== run) throw new Superseded();
    };
    const wait = async (ms: number): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      check();
    };
    const number = demo.calls.beginScene();
    let since: { at: number; what: string | undefined } = { at: Date.now(), what: undefined };
    const callsNow = () => demo.calls.all().filter(({ scene }) => scene === number);
    const resultNow = (): Result => resultOf(callsNow(), demo.service.readAt(), since);
    const burst = (count: number): void => {
      check();
      for (let n = 1; n <= count; n++)
        demo.event(NAMES[(n - 1) % NAMES.length]!, { tags: { scene: scene.id, n } });
    };
    const back = (what: string): void => {
      check();
      since = { at: Date.now(), what };
    };
    last = scene.id;
    results.set(scene.id, { tone: 'running', words: 'playing …' });
    demo.onChange();
    try {
      await demo.tabs.ensure();
      check();
      since = { at: Date.now(), what: undefined };
      await scene.play({ demo, wait, burst, back });
      check();
      const until = Date.now() + TIMED_OUT_MS;
      // A row is no end while the page has the record: if its answer is lost, another row comes.
      const isHeld = () => {
        const { inFlight = 0, waiting = 0 } = demo.status() ?? {};
        return inFlight + waiting > 0;
      };
      for (let result = resultNow(); Date.now() < until; result = resultNow()) {
        if (result.tone === 'running') results.set(scene.id, result);
        else if (!isHeld()) break;
        demo.onChange();
        await wait(100);
      }
      // What is over, is over: nobody has to heal it.
      if (demo.fault() && resultNow().tone !== 'running') await demo.heal();
    } finally {
      const result = resultNow();
      // Another scene has begun, or the tour was stopped.
      const isBrokenOff = own !== run && (result.tone === 'running' || !callsNow().length);
      if (isBrokenOff) results.delete(scene.id);
      else results.set(scene.id, result);
      demo.onChange();
    }
  };

  /** One after the other: two that begin at once would clear each other's stage. */
  const begin = (play: (own: number) => Promise<void>): Promise<unknown> => {
    const own = ++run;
    return (setting = setting.then(async () => {
      if (own !== run) return;
      try {
        await demo.startAfresh();
        void play(own)
          .catch((error: unknown) => {
            if (!(error instanceof Superseded)) console.error(error);
          })
          .finally(() => own === run && show({ id: undefined, tour: undefined }));
      } catch (error) {
        console.error(error);
      }
    }));
  };

  return {
    playing: () => playing,
    last: () => last,
    result: (id: string): Result => results.get(id) ?? { tone: 'ready', words: 'Play' },
    play: (scene: Scene) =>
      begin(async (own) => {
        show({ id: scene.id, tour: undefined });
        await playScene(scene, own);
      }),
    tour: () =>
      begin(async (own) => {
        const steps = SCENES.filter(({ tour }) => tour);
        for (const [at, scene] of steps.entries()) {
          show({ id: scene.id, tour: { step: at + 1, of: steps.length, words: scene.tour! } });
          await playScene(scene, own);
          await new Promise((resolve) => setTimeout(resolve, REST_MS));
          if (own !== run) throw new Superseded();
        }
      }),
    /** What has begun is not played on. What waits is delivered all the same. */
    stop: async (): Promise<void> => {
      run++;
      show({ id: undefined, tour: undefined });
      demo.tabs.setOffline(false);
      await demo.heal();
      await demo.tabs.ensure();
    },
  };
};

export type Director = ReturnType<typeof createDirector>;
