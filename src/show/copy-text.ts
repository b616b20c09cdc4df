import { mayFail } from '../util/may-fail.js';

/** Outside of HTTPS and localhost, and in a frame without the permission, there is no clipboard but by a selection. */
const copyBySelection = (text: string, root: Node): boolean => {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'sr-only';
  const focused = (root.getRootNode() as Document | ShadowRoot).activeElement;
  root.appendChild(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  (focused as HTMLElement | null)?.focus({ preventScroll: true });
  return isCopied;
};

/** Copies a text. Resolves with whether it is in the clipboard. */
export const copyText = async (text: string, root: Node = document.body): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return mayFail(() => copyBySelection(text, root)) ?? false;
  }
};
