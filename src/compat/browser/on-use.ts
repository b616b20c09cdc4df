/**
 * Calls with an element that the selector matches, or that is around what was used: a form as it is submitted, anything
 * else as it is clicked, by the middle button too. The page may have stopped neither: it is heard on the way down.
 */
export const onUse = (selector: string, used: (element: Element) => void): void => {
  const hear = ({ type, target, button }: Partial<MouseEvent>) => {
    // By the prototype: a form answers for its fields first.
    const element = target instanceof Element && Element.prototype.closest.call(target, selector);
    if (element && element instanceof HTMLFormElement === (type === 'submit') && !(button! > 1))
      used(element);
  };
  // On a server there is nothing to listen to.
  for (const type of ['click', 'auxclick', 'submit'])
    (globalThis as { addEventListener?: typeof addEventListener }).addEventListener?.(
      type,
      hear,
      true,
    );
};
