const PREFIX = 'analytics-outbox: ';
/** How often a warning came again is told after this time, then after ten times as long, and so on. */
const AGAIN_MS = 1_000;

export type Say = (message: string) => void;

/** Prints a line for a developer who has switched `debug` on. */
export const log = (what: string, ...more: unknown[]): void => console.log(PREFIX + what, ...more);

/** Prints what keeps everything from working. */
export const cry = (message: string): void => console.error(PREFIX + message);

/** Prints each warning once, and later how many more of it there were. */
export const createSay = (): Say => {
  const said = new Map<string, { more: number; waitMs: number }>();
  return (message) => {
    const known = said.get(message);
    if (!known) {
      said.set(message, { more: 0, waitMs: AGAIN_MS });
      console.warn(PREFIX + message);
    } else if (!known.more++) {
      const tellCount = () => {
        console.warn(`${PREFIX}${message} (${known.more} more)`);
        known.more = 0;
        known.waitMs *= 10;
      };
      setTimeout(tellCount, known.waitMs);
    }
  };
};
