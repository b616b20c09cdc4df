/** Tells the style sheet how much of the window is covered by what sticks to its top and bottom. */
export const measureSticky = (): void => {
  const { style } = document.documentElement;
  const summary = document.querySelector<HTMLElement>('.summary')!;
  const proof = document.querySelector<HTMLElement>('[data-column="proof"]')!;

  /** What sticks there, if it does: a low window has no room for it. */
  const heightOf = (element: HTMLElement, side: 'top' | 'bottom'): string => {
    const looks = getComputedStyle(element);
    const sticks = looks.position === 'sticky' && looks[side] === '0px';
    return `${sticks ? element.offsetHeight : 0}px`;
  };
  const measure = () => {
    style.setProperty('--summary', heightOf(summary, 'top'));
    style.setProperty('--dock', heightOf(proof, 'bottom'));
  };

  const observer = new ResizeObserver(measure);
  observer.observe(summary);
  observer.observe(proof);
  addEventListener('resize', measure);
};
