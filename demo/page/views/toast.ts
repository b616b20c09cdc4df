import { byId } from '../dom.js';

const SHOWN_MS = 4_000;

/** Says in a sentence what a button has done. */
export type Say = (text: string) => void;

export interface Toast {
  say: Say;
  /** For what takes its time: says the result, unless an error has been shown since this was called. */
  later: () => Say;
  /** Says that something has failed. */
  fail: Say;
  /** Hides what is said: an error is shown elsewhere, perhaps under the toast. */
  giveWay: () => void;
}

export const createToast = (): Toast => {
  const element = byId('toast');
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Errors shown so far, here and elsewhere. */
  let errors = 0;

  const say = (text: string): void => {
    clearTimeout(timer);
    element.textContent = text;
    timer = setTimeout(() => (element.textContent = ''), SHOWN_MS);
  };

  return {
    say,
    later: () => {
      const before = errors;
      return (text) => {
        if (errors === before) say(text);
      };
    },
    fail: (text) => {
      errors++;
      say(text);
    },
    giveWay: () => {
      errors++;
      say('');
    },
  };
};
