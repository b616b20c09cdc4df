import { SCENES } from '../scenes/scenes.js';
import type { Stage } from '../scenes/stage.js';
import { tracker } from '../tracker.js';
import { consentWords, pauseWords } from './pause-words.js';
import type { Toast } from './toast.js';

interface Effects {
  stage: Stage;
  /** Ends the scene before, and starts a new tracker. */
  clearStage: () => Promise<void>;
  toast: Toast;
  /** A scene has been set. */
  onChange: () => void;
  now: () => number;
}

/** Plays the scene of the form that is sent. */
export const bindSceneForms = ({ stage, clearStage, toast, onChange, now }: Effects): void => {
  /** The scene that is being set: two at once would clear each other’s stage. */
  let setting: Promise<unknown> = Promise.resolve();

  /** What a scene promises holds where its records are sent at once. */
  const inTruth = (words: string): string => {
    const status = tracker().status?.();
    if (!status) return words;
    const pause = pauseWords(status, now());
    return consentWords(status) ?? (pause ? `${words} ${pause}` : words);
  };

  const play = async (form: HTMLFormElement): Promise<void> => {
    const scene = SCENES[form.dataset['scene'] ?? ''];
    const data = new FormData(form);
    const say = toast.later();
    try {
      await clearStage();
      say(inTruth((await scene?.(stage, (name) => Number(data.get(name)))) ?? ''));
    } catch (error) {
      toast.fail(`That did not work: ${(error as Error).message}.`);
    }
    onChange();
  };

  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-scene]')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      setting = setting.then(() => play(form));
    });
  }
};
