import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Holds what one reads where it stands when rows are added or let go above it. Not every browser does so by itself, so
 * the style sheet switches that off for the list (`overflow-anchor`).
 *
 * `above` changes with what is drawn above.
 */
export const useKeepPlace = (list: { current: HTMLElement | null }, above: unknown): void => {
  const place = useRef<{ element: Element; top: number } | undefined>(undefined);
  const before = useRef(above);
  if (before.current !== above) {
    // Before the rows are drawn: the first one in sight.
    const element = [...(list.current?.querySelectorAll('.row') ?? [])].find(
      (row) => row.getBoundingClientRect().bottom > 0,
    );
    place.current = element && { element, top: element.getBoundingClientRect().top };
  }
  useLayoutEffect(() => {
    before.current = above;
    const { element, top } = place.current ?? {};
    place.current = undefined;
    if (!element?.isConnected) return;
    scrollBy({ top: element.getBoundingClientRect().top - top!, behavior: 'instant' });
  }, [above]);
};
