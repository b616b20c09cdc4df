/** Drawn, since not every machine has a font with emoji. */
export const Person = () => (
  <svg class="person" viewBox="0 0 16 16" width="15" height="15">
    <circle cx="8" cy="5" r="3.2" />
    <path d="M2 15a6 6 0 0 1 12 0z" />
  </svg>
);
