import { clockTime, dayInWords } from '../../../../show/times.js';

/** `14:02:11`, `yesterday 14:02:11` */
export const momentInWords = (iso: string, now: number): string => {
  const at = Date.parse(iso);
  const day = dayInWords(at, now);
  return `${day === 'today' ? '' : `${day} `}${clockTime(at)}`;
};
