import { statSync } from 'node:fs';

/** Tells one database file from another, so that the page does not look for its calls in a new one. */
export const databaseId = (path: string): string => {
  const { ino, birthtimeMs } = statSync(path);
  return `${ino.toString(36)}${Math.floor(birthtimeMs).toString(36)}`;
};
