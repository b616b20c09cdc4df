/** Buttons that show a list in full, and then the latest only. The style sheet says how many those are. */
export const bindLists = (): void => {
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-more]')) {
    const text = button.firstChild as Text;
    button.addEventListener('click', () => {
      const isOpen = button.getAttribute('aria-expanded') !== 'true';
      button.setAttribute('aria-expanded', String(isOpen));
      text.data = isOpen ? 'Show fewer' : 'Show all';
      // A list in full does not stick to the window any more: it may have moved out of sight.
      button.closest('.panel')?.scrollIntoView({ block: isOpen ? 'start' : 'nearest' });
    });
  }
};
