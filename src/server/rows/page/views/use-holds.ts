import { useEffect } from 'preact/hooks';
import type { Feed } from '../state/feed.js';

const POINTING_MS = 1200;

/** The feed stands still while somebody reads it: scrolled down, with the focus in a row, or pointing at one. */
export const useHolds = (feed: Feed, list: { current: HTMLDivElement | null }): void => {
  useEffect(() => {
    const element = list.current!;
    let pointing: ReturnType<typeof setTimeout> | undefined;

    const onScroll = (): void => {
      const top = document.querySelector('.top')?.getBoundingClientRect().bottom ?? 0;
      feed.hold('scroll', element.getBoundingClientRect().top < top - 4);
    };
    const onFocus = (): void => {
      const focused = document.activeElement;
      const isInRow = !!focused?.closest('.row') && element.contains(focused);
      feed.hold('focus', isInRow && focused!.matches(':focus-visible'));
    };
    const onPoint = (): void => {
      clearTimeout(pointing);
      feed.hold('pointer', true);
      pointing = setTimeout(() => feed.hold('pointer', false), POINTING_MS);
    };
    const later = (): void => void setTimeout(onFocus);

    addEventListener('scroll', onScroll, { passive: true });
    document.addEventListener('focusin', onFocus);
    document.addEventListener('focusout', later);
    element.addEventListener('pointermove', onPoint);
    element.addEventListener('pointerdown', onPoint);
    return () => {
      removeEventListener('scroll', onScroll);
      document.removeEventListener('focusin', onFocus);
      document.removeEventListener('focusout', later);
      clearTimeout(pointing);
      for (const reason of ['scroll', 'focus', 'pointer'] as const) feed.hold(reason, false);
    };
  }, [feed, list]);
};
