const NAMES = ['project', 'user_id', 'channel', 'event'] as const;
type Names = Partial<Record<(typeof NAMES)[number], string | null>>;

/** Whether an erasure has deleted a row that was read before. */
export const isErased = (
  row: Names & { seq: number; received_at: string },
  { from, to, upto, ...erased }: Names & { from?: string; to?: string; upto: number },
): boolean =>
  row.seq < upto &&
  NAMES.every((name) => erased[name] === undefined || row[name] === erased[name]) &&
  (from === undefined || row.received_at >= from) &&
  (to === undefined || row.received_at < to);
