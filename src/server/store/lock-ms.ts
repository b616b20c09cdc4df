/** How long a lock of a target holds without being renewed, in milliseconds by the clock of the database. */
export const LOCK_MS = 30_000;
