import { byId } from '../dom.js';

/** Shows what is wrong with a field beside it, where a screen reader hears of it; none clears it. */
export const showError = (field: HTMLElement, message: string | undefined): void => {
  const slot = byId(`${field.id}-error`);
  if (slot.textContent !== (message ?? '')) slot.textContent = message ?? '';
  if (message === undefined) field.removeAttribute('aria-invalid');
  else field.setAttribute('aria-invalid', 'true');
};

/** Shows all errors and goes to the first field that has one. True where there is none. */
export const showErrors = (
  errors: Map<HTMLElement, string | undefined>,
  /** Called where there is one. */
  onError: () => void,
): boolean => {
  for (const [field, message] of errors) showError(field, message);
  const [first] = [...errors].find(([, message]) => message !== undefined) ?? [];
  if (!first) return true;
  onError();
  first.focus();
  return false;
};
