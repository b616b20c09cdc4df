/** Keeps the children of a list the same as the wanted ones, and leaves alone what has not changed. */
export const createKeyedRows = <Item>(
  list: HTMLElement,
  { key, look, draw }: Rows<Item>,
): ((items: readonly Item[]) => void) => {
  let drawn = new Map<string, { element: HTMLElement; look: string }>();

  return (items) => {
    const next: typeof drawn = new Map();
    let place = list.firstElementChild;
    for (const item of items) {
      const id = key(item);
      const known = drawn.get(id);
      const looks = look(item);
      const isSame = known?.look === looks;
      const element = isSame ? known.element : draw(item);
      next.set(id, { element, look: looks });
      if (known && !isSame) {
        if (place === known.element) place = element;
        known.element.replaceWith(element);
      }
      if (place === element) place = element.nextElementSibling;
      else list.insertBefore(element, place);
    }
    for (const [id, { element }] of drawn) if (!next.has(id)) element.remove();
    drawn = next;
  };
};

interface Rows<Item> {
  key: (item: Item) => string;
  /** Changes when the row has to be drawn again. */
  look: (item: Item) => string;
  draw: (item: Item) => HTMLElement;
}
