import { createSheet } from './style.js';
import { memberOf } from '../../client/page.js';
import { create } from './dom.js';

type Host = HTMLElement & { onremoved?: () => void };

const NAME = 'analytics-outbox-inspector';

/**
 * Puts the element into the page that the inspector is drawn in, out of reach of the page's styles.
 * @param onEnd called when Escape is pressed, or when the page has removed the element
 */
export const createHost = (into: Element | undefined, onEnd: (isRemoved: boolean) => void) => {
  // Once for the document, whichever script of the page comes first.
  if (!customElements.get(NAME))
    customElements.define(
      NAME,
      class extends HTMLElement {
        disconnectedCallback() {
          (this as Host).onremoved?.();
        }
      },
    );
  const element = create(NAME as 'div') as Host;
  const root = element.attachShadow({ mode: 'open' });
  // Left where it stands, the text of the style compresses better.
  root.adoptedStyleSheets = [/* @__NOINLINE__ */ createSheet()];
  element.onkeydown = (event) => {
    // What is typed in here is no shortcut of the page's.
    event.stopPropagation();
    if (event.key === 'Escape') onEnd(false);
  };
  element.onremoved = () => onEnd(true);
  // Beside the body, which frameworks own.
  (into ?? memberOf(document, 'documentElement')).appendChild(element);
  return { root, remove: (): void => element.remove() };
};
