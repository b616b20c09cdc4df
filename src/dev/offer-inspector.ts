import { mayFail } from '../util/may-fail.js';
import { ofPage } from './watched.js';

/** Any value under this key of localStorage opens the inspector on every page of the site. */
export const FLAG = 'analytics-outbox inspect';

/** Loads and opens it. Never rejects. */
export type LoadInspector = () => Promise<unknown>;

const isAsked = (tag: HTMLElement | null | undefined): unknown =>
  tag?.matches('[data-inspect]') ||
  /[?&]analytics\b/.test(location.search) ||
  mayFail(() => localStorage.getItem(FLAG));

/** Opens the inspector if the page asks for it, and whenever its key is pressed: Ctrl, Shift, and the key left of 1. */
export const offerInspector = (load: LoadInspector, tag?: HTMLElement | null): void => {
  const page = ofPage();
  if (page.isOffered) return;
  page.isOffered = true;
  if (isAsked(tag)) void load();
  const onKey = (event: KeyboardEvent) => {
    const { code, ctrlKey, shiftKey, altKey, repeat } = event;
    if (code !== 'Backquote' || !ctrlKey || !shiftKey || altKey || repeat) return;
    event.preventDefault();
    const { panel } = page;
    if (panel && !panel.into) panel.close();
    else void load().then(() => page.panel?.focus());
  };
  // In the first phase, so that a page that stops its keys still has this one.
  window.addEventListener('keydown', onKey, true);
};
