import { memberOf } from '../../client/page.js';

/** What an element is to be: its attributes and listeners (`onclick`), and what is in it. */
export interface Drawing {
  tag: string;
  props: Props;
  children: Drawn[];
}
export type Drawn = Drawing | string;
export type Props = Record<
  string,
  string | number | boolean | undefined | ((event: never) => unknown)
> & {
  /** Among its neighbours, an element with the same key is the same element, wherever it stands. */
  key?: string;
};
type Given = Drawn | false | undefined | Given[];

/**
 * A drawing of an element, as JSX calls for it. What is `false`, missing or empty is left out. Preact, which the pages
 * of the project use, would be ten times as large as this file.
 */
export const h = (tag: string, props: Props | null, ...given: Given[]): Drawing => ({
  tag,
  props: props ?? {},
  children: given.flat(9).filter(Boolean) as Drawn[],
});

/** What JSX may be. */
export declare namespace h.JSX {
  type Element = Drawing;
  type IntrinsicElements = Record<string, Record<string, Props[string] | Given>>;
}

/** A page may have an element named `createElement`, so that `document` has that in place of the method. */
export const create = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
): HTMLElementTagNameMap[Tag] => {
  const space = /^(svg|rect)$/.test(tag) ? '2000/svg' : '1999/xhtml';
  const make = memberOf(document, 'createElementNS');
  return make.call(document, `http://www.w3.org/${space}`, tag) as never;
};

/** What was drawn into a node last, by key or place. */
const drawings = new WeakMap<Node, Map<string, [drawn: Drawn, node: Node]>>();

/** Makes a node what it is to be. */
const update = (node: Node, drawn: Drawn, before: Drawn | undefined): void => {
  if (drawn === before) return;
  if (typeof drawn === 'string') {
    (node as Text).data = drawn;
    return;
  }
  const { props, children } = drawn;
  const former = (before as Drawing | undefined)?.props ?? {};
  for (const name of Object.keys({ ...former, ...props })) {
    const value = props[name];
    if (value === former[name] || name === 'key') continue;
    // What a person has chosen is not in the attribute.
    if (/^on|^checked/.test(name)) (node as unknown as Props)[name] = value;
    else if (value === undefined || value === false) (node as Element).removeAttribute(name);
    else (node as Element).setAttribute(name, value === true ? '' : `${value as string}`);
  }
  draw(node, children);
};

/** Draws the children of a node. Those that were there stay, and only what differs is changed. */
export const draw = (parent: Node, next: readonly Drawn[]): void => {
  const before = drawings.get(parent);
  const now = new Map(
    next.map((drawn, i) => {
      const id = typeof drawn === 'string' ? `${i}` : (drawn.props.key ?? `${drawn.tag}${i}`);
      const known = before?.get(id);
      const node =
        known?.[1] ?? (typeof drawn === 'string' ? new Text() : create(drawn.tag as 'div'));
      update(node, drawn, known?.[0]);
      return [id, [drawn, node] as [Drawn, Node]];
    }),
  );
  for (const [id, [, node]] of before ?? []) if (!now.has(id)) parent.removeChild(node);
  let i = 0;
  for (const [, node] of now.values()) {
    const there = parent.childNodes[i++] ?? null;
    if (there !== node) parent.insertBefore(node, there);
  }
  drawings.set(parent, now);
};
