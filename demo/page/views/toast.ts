import { byId } from '../dom.js';

const SHOWN_MS = 8_000;

/** Says in a sentence what a button has done. */
export type Say = (text: string) => void;

export const createToast = (): Say => {
  const element = byId('toast');
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (text) => {
    clearTimeout(timer);
    element.textContent = text;
    timer = setTimeout(() => (element.textContent = ''), SHOWN_MS);
  };
};
