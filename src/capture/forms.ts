import { elementsOf } from './clicked.js';
import { ask } from './element.js';
import type { Feature } from './feature.js';
import type { Labels } from './types.js';

/** What visitors fill in. Not what the page has put there itself. */
const FIELDS = 'input:not([type=hidden]),select,textarea';

const nameOf = (element: Element): string | undefined =>
  ask(element, 'getAttribute', 'name') || ask(element, 'getAttribute', 'id') || undefined;

/** Submits of forms: names, never values. */
export const forms: Feature<Labels> = (tell, _, page) =>
  page.listen(window, 'submit', (event) => {
    const [form] = elementsOf(event);
    const all = ask(form!, 'querySelectorAll', FIELDS);
    const fields = [...all].map(nameOf).filter(Boolean);
    tell({ form: nameOf(form!), fields: [...new Set(fields)] });
  });
