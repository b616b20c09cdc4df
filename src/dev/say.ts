const PREFIX = 'analytics-outbox: ';
/** How often a warning came again is told after this time, then after ten times as long, and so on. */
const AGAIN_MS = 1_000;

/** Where each message is explained. */
export const HELP =
  'https://github.com/analytics-outbox/analytics-outbox/blob/main/docs/messages.md';

export type Say = (message: string) => void;

/** Prints a line for a developer who has switched `debug` on. */
export const log = (what: string, ...more: unknown[]): void => console.log(PREFIX + what, ...more);

let isHelped = false;
/** Tells where messages are explained: once a page is enough. */
const help = (): void => {
  if (!isHelped) console.warn(`${PREFIX}what each message means: ${HELP}`);
  isHelped = true;
};

/** Prints what keeps everything from working. */
export const cry = (message: string): void => {
  console.error(PREFIX + message);
  help();
};

/**
 * Prints each warning once, and later how many more of it there were.
 * @param then what follows the first of each
 */
export const createSay = (then = help): Say => {
  const said = new Map<string, { more: number; waitMs: number }>();
  return (message) => {
    const known = said.get(message);
    if (!known) {
      said.set(message, { more: 0, waitMs: AGAIN_MS });
      console.warn(PREFIX + message);
      then();
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
