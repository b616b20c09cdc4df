import type { Demo } from './demo.js';
import { NAMES, SCENES, type Scene } from './scenes.js';

/** Another scene has begun. */
class Superseded extends Error {}
const TIMED_OUT_MS = 75_000;
/** In the tour, what a scene has come to stays in sight for so long. */
const REST_MS = 1_200;
const LOOK_EVERY_MS = 100;

interface Playing {
  /** Id of the scene. */
  id: string;
  isTour: boolean;
  /** What happens now. */
  words: string;
}

/** Plays one scene at a time, or the tour. Whatever begins ends what was going on. */
export const createDirector = (demo: Demo) => {
  let playing: Playing | undefined;
  let run = 0;
  let setting: Promise<unknown> = Promise.resolve();

  const show = (next: Playing | undefined): void => {
    playing = next;
    demo.onChange();
  };

  const playScene = async (scene: Scene, isTour: boolean, own: number): Promise<void> => {
    const { id } = scene;
    const check = (): void => {
      if (own !== run) throw new Superseded();
    };
    const say = (words: string): void => {
      check();
      show({ id, isTour, words });
    };
    const wait = async (ms: number): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      check();
    };
    let n = 0;
    const click = async (count: number, overMs = 0): Promise<void> => {
      check();
      for (const until = n + count; n < until;) {
        demo.event(NAMES[n % NAMES.length]!, { n: ++n }, { scene: id });
        if (overMs) await wait(overMs / count);
      }
    };
    /** A row is no end while the page has the record: if its answer is lost, another row comes. */
    const isHeld = (): boolean => {
      const { inFlight = 0, waiting = 0 } = demo.status() ?? {};
      return inFlight + waiting + demo.tally('with').waiting > 0;
    };
    const settle = async (): Promise<void> => {
      const until = Date.now() + TIMED_OUT_MS;
      const isWaiting = () => isHeld() || demo.tally('without').waiting > 0;
      while (Date.now() < until && isWaiting()) await wait(LOOK_EVERY_MS);
    };
    say(scene.words);
    await demo.tabs.ensure();
    check();
    const { breakBy, heal } = demo.service;
    await scene.play({ demo, wait, click, settle, breakBy, heal, say });
    await settle();
    if (demo.service.isBroken()) await heal();
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
          .finally(() => own === run && show(undefined));
      } catch (error) {
        console.error(error);
      }
    }));
  };

  return {
    playing: () => playing,
    play: (scene: Scene) => begin((own) => playScene(scene, false, own)),
    tour: () =>
      begin(async (own) => {
        for (const scene of SCENES.filter(({ group }) => group === 'tour')) {
          await playScene(scene, true, own);
          await new Promise((resolve) => setTimeout(resolve, REST_MS));
          if (own !== run) throw new Superseded();
        }
      }),
    /** What has begun is not played on. What waits is delivered all the same. */
    stop: async (): Promise<void> => {
      run++;
      show(undefined);
      await demo.heal();
      await demo.tabs.ensure();
    },
  };
};

export type Director = ReturnType<typeof createDirector>;
