/**
 * The pace of a reader of the rows. It pauses between steps while rows come one by one, since a step costs as much for
 * one row as for many. While it is behind it rests for a quarter of the time that a step took.
 */
export const PAUSE_MS = 200;
export const REST = 1 / 4;
/** Rows of one step: at first, and at the most while the reader is behind. */
export const [FIRST_STEP, MAX_STEP] = [1_000, 5_000];
/** How often a reader looks for rows that another process has left behind. */
export const LOOK_MS = 5_000;
/** The pause after an error, and the one while another process has the reader. */
export const [TROUBLE_MS, BUSY_MS] = [1_000, 50];
