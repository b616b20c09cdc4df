/** A stretch of time: `120 ms`, `1.02 s`, `12 s`, `2 min 14 s`, `3 h 5 min`. */
export const stretch = (ms: number): string => {
  const s = Math.round(ms / 1_000);
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9_995) return `${+(ms / 1_000).toFixed(2)} s`;
  if (s < 60) return `${s} s`;
  if (s < 3_600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3_600)} h ${Math.floor((s % 3_600) / 60)} min`;
};

/** What is left until a time, in tenths at the end: `1.4 s`. */
export const countdown = (ms: number): string =>
  ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : stretch(ms);

/** `14:02:11.432` */
export const clock = (at: number): string => {
  const offset = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offset).toISOString().slice(11, 23);
};

/** `1 record`, `3 records` */
export const countOf = (count: number): string => `${count} record${count === 1 ? '' : 's'}`;
