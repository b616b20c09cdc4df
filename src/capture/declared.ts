import { CLICKS, elementsOf, linkIn } from './clicked.js';
import { ask } from './element.js';
import type { Feature } from './feature.js';
import { onSight } from './sight.js';
import { onSubmit } from './submits.js';
import { textOf } from './text-of.js';
import type { ClickLabels } from './types.js';

const VISIBLE = '[data-event-when=visible]';

/** Elements with `data-event`: a click; of a form its submit; with `data-event-when="visible"` the first sight. */
export const declared: Feature<ClickLabels> = (tell, labels, page) => {
  const tellOf = (element: Element) => {
    const tags: Record<string, unknown> = { text: textOf(element, labels) };
    for (const name of ask(element, 'getAttributeNames')) {
      if (name.startsWith('data-tag-')) tags[name.slice(9)] = ask(element, 'getAttribute', name);
    }
    const own = (name: string) => ask(element, 'getAttribute', `data-${name}`) ?? undefined;
    const notify = own('notify');
    tell(tags, {
      name: own('event')!,
      channel: own('channel'),
      icon: own('icon'),
      description: own('description'),
      // An attribute that a template has left empty says nothing.
      userId: own('user-id') || undefined,
      notify: notify === undefined ? notify : notify !== 'false',
    });
  };
  page.listen<MouseEvent>(window, CLICKS, (event) => {
    const elements = elementsOf(event);
    // The middle button does something on links alone.
    if (event.button > 1 || (event.button && !linkIn(elements))) return;
    const element = elements.find((one) =>
      ask(one, 'matches', `[data-event]:not(form,${VISIBLE})`),
    );
    // The click on a label is followed by one on its field: where both are in the element, that one counts.
    const label = elements.find((one) => ask(one, 'matches', 'label')) as
      HTMLLabelElement | undefined;
    const field = label?.control ?? null;
    if (element && (elements.includes(field!) || !element.contains(field))) tellOf(element);
  });
  onSubmit(page, (form) => {
    if (ask(form, 'matches', `[data-event]:not(${VISIBLE})`)) tellOf(form);
  });
  onSight(page, `[data-event]${VISIBLE}`, tellOf);
};
