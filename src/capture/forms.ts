import { memberOf } from '../client/page.js';
import { cut } from '../util/cut.js';
import { ask } from './element.js';
import type { Feature } from './feature.js';
import { onSubmit } from './submits.js';
import type { Labels } from './types.js';

/** Elements of a form that visitors do not fill in. */
const NO_FIELDS =
  'fieldset,button,output,object,[type=hidden],[type=submit],[type=reset],[type=button]';
/** Fields that are named, and characters of a name, at the most. */
const MOST = 100;

const nameOf = (element: Element): string | undefined =>
  cut(ask(element, 'getAttribute', 'name') || ask(element, 'getAttribute', 'id') || '', MOST) ||
  undefined;

/** Submits of forms: names, never values. */
export const forms: Feature<Labels> = (tell, _, page) =>
  onSubmit(page, (form, submitter) => {
    // It closes its dialog, and sends nothing.
    if ((submitter?.formMethod || form.method) === 'dialog') return;
    // Those outside of it that name it in their `form`, too, and custom elements.
    const all = [...memberOf(form, 'elements')];
    const fields = all.filter((one) => !ask(one, 'matches', NO_FIELDS)).map(nameOf);
    tell({ form: nameOf(form), fields: [...new Set(fields.filter(Boolean))].slice(0, MOST) });
  });
