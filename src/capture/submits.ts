import type { Page } from './page.js';

/** Calls with each form that is submitted, and by what, also in an open shadow tree, which no submit leaves. */
export const onSubmit = (
  page: Page,
  submitted: (form: HTMLFormElement, submitter: HTMLButtonElement | null) => void,
): void => {
  const known = new WeakSet<object>();
  const isNew = (one: object) => !known.has(one) && known.add(one);
  const follow = (target: EventTarget) => {
    if (!isNew(target)) return;
    page.listen<SubmitEvent>(target, 'submit', (event) => {
      // The submit of a form in a slot passes the tree of the slot, too.
      if (isNew(event))
        submitted(event.composedPath()[0] as HTMLFormElement, event.submitter as HTMLButtonElement);
    });
  };
  follow(window);
  // Whoever submits a form has pressed something in it.
  page.listen(window, 'click keydown', (event) => {
    for (const target of event.composedPath()) if (target instanceof ShadowRoot) follow(target);
  });
};
