type Question = 'closest' | 'getAttribute' | 'getAttributeNames' | 'matches' | 'querySelectorAll';
type Answer<Name extends Question> = ReturnType<Element[Name]>;

/**
 * Asks an element by one of its methods. A form answers for its fields first: `form.matches` is the field of that
 * name, so the method is not looked for in the element itself.
 */
export const ask = <Name extends Question>(
  element: Element,
  method: Name,
  argument?: string,
): Answer<Name> =>
  (Element.prototype[method] as (argument?: string) => unknown).call(
    element,
    argument,
  ) as Answer<Name>;
