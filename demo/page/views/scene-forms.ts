import { SCENES } from '../scenes/scenes.js';
import type { Stage } from '../scenes/stage.js';
import type { Say } from './toast.js';

interface Effects {
  stage: Stage;
  say: Say;
  /** A scene has been set. */
  onChange: () => void;
}

/** Plays the scene of the form that is sent. */
export const bindSceneForms = ({ stage, say, onChange }: Effects): void => {
  const play = async (form: HTMLFormElement): Promise<void> => {
    const scene = SCENES[form.dataset['scene'] ?? ''];
    const data = new FormData(form);
    try {
      say((await scene?.(stage, (name) => Number(data.get(name)))) ?? '');
    } catch (error) {
      say(`That did not work: ${(error as Error).message}.`);
    }
    onChange();
  };

  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-scene]')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void play(form);
    });
  }
};
