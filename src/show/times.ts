const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** From here on it is worth saying that a record came late. */
export const LATE_MS = 10 * SECOND_MS;

interface Times {
  called_at: string;
  received_at: string;
}

/** How long after its call a record came, in milliseconds. */
export const delayMs = ({ called_at, received_at }: Times): number =>
  Date.parse(received_at) - Date.parse(called_at);

const twoParts = (ms: number, large: number, small: number, words: [string, string]): string => {
  const rounded = Math.round(ms / small);
  const [first, second] = [Math.floor((rounded * small) / large), rounded % (large / small)];
  return second ? `${first} ${words[0]} ${second} ${words[1]}` : `${first} ${words[0]}`;
};

/** A stretch of time as people say it: `0.9 s`, `12 s`, `2 min 14 s`, `3 h 5 min`, `2 d 3 h`. */
export const lengthInWords = (ms: number): string => {
  if (ms < 9_950) return `${Number((ms / SECOND_MS).toFixed(1))} s`;
  if (ms < MINUTE_MS - 500) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS - 500) return twoParts(ms, MINUTE_MS, SECOND_MS, ['min', 's']);
  if (ms < DAY_MS - MINUTE_MS / 2) return twoParts(ms, HOUR_MS, MINUTE_MS, ['h', 'min']);
  return twoParts(ms, DAY_MS, HOUR_MS, ['d', 'h']);
};

/** The same exactly, if it is short: `120 ms`, `1.02 s`, `12 s`. */
export const exactLength = (ms: number): string => {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))} ms`;
  return ms < 9_995 ? `${Number((ms / SECOND_MS).toFixed(2))} s` : lengthInWords(ms);
};

/** How long after its call a record came, in words. */
interface Delay {
  text: string;
  /**
   * `ahead`: by the browser's clock the call was made after its record had come. `unknown`: a time cannot be read, or
   * the sender told none, so that the time of the arrival stands for that of the call.
   */
  kind: 'soon' | 'late' | 'ahead' | 'unknown';
}

export const delayOf = (times: Times): Delay => {
  const ms = delayMs(times);
  if (ms === 0) return { text: '', kind: 'unknown' };
  if (Number.isNaN(ms)) return { text: '?', kind: 'unknown' };
  if (ms <= -SECOND_MS) return { text: `clock ${lengthInWords(-ms)} ahead`, kind: 'ahead' };
  if (ms < LATE_MS) return { text: lengthInWords(Math.max(ms, 0)), kind: 'soon' };
  return { text: `${lengthInWords(ms)} later`, kind: 'late' };
};

const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const DAY_AND_YEAR = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** `14:02:11`, or with digits of its second: `14:02:11.432`. */
export const clockTime = (at: number, digits = 0): string => {
  const local = at - new Date(at).getTimezoneOffset() * MINUTE_MS;
  return new Date(local).toISOString().slice(11, digits ? 20 + digits : 19);
};

/** `14:02:11.4`, with the day before it if that is not today. */
export const arrivalTime = (iso: string, now: number): { day: string; time: string } => {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return { day: '', time: iso };
  const today = new Date(now);
  const isSameYear = at.getFullYear() === today.getFullYear();
  const isToday = at.toDateString() === today.toDateString();
  const day = isToday ? '' : (isSameYear ? DAY : DAY_AND_YEAR).format(at);
  return { day, time: clockTime(+at, 1) };
};

/** `1,204` */
export const inDigits = (count: number): string => count.toLocaleString('en');

/** `1 row`, `1,204 rows` */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${inDigits(count)} ${count === 1 ? one : many}`;

const WEEKDAY = new Intl.DateTimeFormat('en', { weekday: 'long' });

/** `just now`, `2 min ago`, `3 h ago`, `5 d ago` */
export const agoInWords = (ms: number): string => {
  if (ms < MINUTE_MS) return 'just now';
  const [size, word] =
    ms < HOUR_MS ? [MINUTE_MS, 'min'] : ms < DAY_MS ? [HOUR_MS, 'h'] : [DAY_MS, 'd'];
  return `${Math.floor(ms / size)} ${word} ago`;
};

/** `today`, `yesterday`, `Tuesday` in the last week, `12 Nov`, `12 Nov 2025` */
export const dayInWords = (at: number, now: number): string => {
  const startOf = (ms: number): number => new Date(ms).setHours(0, 0, 0, 0);
  const days = Math.round((startOf(now) - startOf(at)) / DAY_MS);
  if (days === 0) return 'today';
  if (days === 1) return 'yesterday';
  if (days > 0 && days < 7) return WEEKDAY.format(at);
  const isSameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return (isSameYear ? DAY : DAY_AND_YEAR).format(at);
};
