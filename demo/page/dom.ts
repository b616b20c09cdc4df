/** An element that index.html has. */
export const byId = <E extends HTMLElement = HTMLElement>(id: string): E => {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no #${id}`);
  return element as E;
};

type Attributes = Record<string, string | undefined>;

/** Makes an element. Text only: the page never turns a string into HTML. */
export const make = (
  tag: string,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElement => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};

/** Writes only what has changed, so that a selection in the text survives the next look. */
export const setText = (element: Element, text: string): void => {
  if (element.textContent !== text) element.textContent = text;
};

export const setAttribute = (element: Element, name: string, value: string): void => {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
};
