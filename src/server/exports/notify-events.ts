const PARTS = 3;

/** The parts of `project/channel/event`. The name of an event may have slashes, and so may its pattern. */
const partsOf = (pattern: string): string[] => {
  const [project = '', channel = '', ...event] = pattern.trim().split('/');
  return [project, channel, event.join('/')];
};

/** Whether a text is a pattern of events, such as `shop/orders/*`. */
export const isEventPattern = (pattern: string): boolean =>
  pattern.split('/').length >= PARTS && partsOf(pattern).every(Boolean);

/**
 * Whether a text fits a pattern in which `*` stands for any text. Not a regular expression: a stranger's long text could
 * keep one busy.
 */
const fits = (text: string, pattern: string): boolean => {
  const [start = '', ...pieces] = pattern.split('*');
  const end = pieces.pop();
  if (end === undefined) return text === pattern;
  if (!text.startsWith(start)) return false;
  let at = start.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - end.length >= at && text.endsWith(end);
};

/** The names of an event. */
export interface EventNames {
  project: string;
  channel: string;
  event: string;
}

/** A function that says whether an event fits one of the patterns. */
export const createEventMatcher = (patterns: readonly string[]) => {
  const all = patterns.map(partsOf);
  return ({ project, channel, event }: EventNames): boolean =>
    all.some(([ofProject, ofChannel, ofEvent]) => {
      const isThere = fits(project, ofProject!) && fits(channel, ofChannel!);
      return isThere && fits(event, ofEvent!);
    });
};
