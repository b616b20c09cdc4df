import { mayFail } from '../util/may-fail.js';

/** A stub that no tag has taken the place of yet. Reading a property of the page's own window may have effects. */
const isStub = (name: string): boolean => {
  const value: unknown = Object.getOwnPropertyDescriptor(window, name)?.value;
  const { calls, setConsent } = Object(value) as { calls?: unknown; setConsent?: unknown };
  // The tag's file gives the list a `push` of its own.
  return Array.isArray(calls) && typeof setConsent === 'function' && !Object.hasOwn(calls, 'push');
};

/** Whether another tag is for this global. */
const hasTag = (name: string, own: HTMLScriptElement): boolean =>
  [...document.querySelectorAll<HTMLScriptElement>('script[data-project]')].some(
    (tag) => tag !== own && (tag.dataset['global'] || 'analytics') === name,
  );

/** Stubs whose calls wait for nobody, since the tag names another global. */
export const strayStubs = (tag: HTMLScriptElement): string[] => {
  const own = tag.dataset['global'] || 'analytics';
  const isStray = (name: string) =>
    name !== own && mayFail(() => isStub(name)) && !hasTag(name, tag);
  return Object.keys(window)
    .filter(isStray)
    .map(
      (name) =>
        `the stub is window.${name}, but the tag is for window.${own}: write data-global="${name}"`,
    );
};
