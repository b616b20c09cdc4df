import { elementsOf } from './clicked.js';
import type { Feature } from './feature.js';
import type { Labels } from './types.js';

/** What visitors fill in. Not what the page has put there itself. */
const FIELDS = 'input:not([type=hidden]),select,textarea';

/** By attribute: a field of that name takes the place of a form's property. */
const nameOf = (element: Element): string | undefined =>
  element.getAttribute('name') || element.getAttribute('id') || undefined;

/** Submits of forms: names, never values. */
export const forms: Feature<Labels> = (tell, _, page) =>
  page.listen(window, 'submit', (event) => {
    const [form] = elementsOf(event);
    const fields = [...form!.querySelectorAll(FIELDS)].map(nameOf).filter(Boolean);
    tell({ form: nameOf(form!), fields: [...new Set(fields)] });
  });
