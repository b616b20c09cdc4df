import type { Tally } from '../calls/verdict.js';
import { byId, setText } from '../dom.js';

/** A screen reader is told when the counts have come to rest. */
const REST_MS = 1_500;

const sentence = ({ made, once, waiting, dropped, unknown, wrong }: Tally): string => {
  if (made === 0) return 'No calls made.';
  const parts = [
    `${once} stored once`,
    waiting && `${waiting} on the way`,
    dropped && `${dropped} dropped`,
    unknown && `${unknown} unknown`,
    wrong && `${wrong} twice or lost`,
  ];
  return `${made} calls made: ${parts.filter(Boolean).join(', ')}.`;
};

/** The counts on top. */
export const createTallyView = () => {
  const places = [...document.querySelectorAll<HTMLElement>('[data-count]')];
  const parts = [...document.querySelectorAll<HTMLElement>('[data-part]')];
  const verdict = byId('verdict');
  let timer: ReturnType<typeof setTimeout> | undefined;
  let said = '';

  return (tally: Tally): void => {
    const text = sentence(tally);
    if (text === said) return;
    for (const place of places) {
      const count = tally[place.dataset['count'] as keyof Tally];
      setText(place.querySelector('dd')!, String(count));
      place.classList.toggle('none', count === 0);
    }
    for (const part of parts) {
      const share = tally[part.dataset['part'] as keyof Tally] / Math.max(1, tally.made);
      part.style.flexBasis = `${share * 100}%`;
    }
    clearTimeout(timer);
    // Not at the start: nobody has done anything yet.
    if (said) timer = setTimeout(() => setText(verdict, text), REST_MS);
    said = text;
  };
};
