import type { Row } from '../../../store/port.js';

/** What has been seen so far, to choose from. */
export interface Seen {
  projects: readonly string[];
  channels: readonly string[];
  events: readonly string[];
  /** Whether a row names the browser that sent it: one that came through a queue does not. */
  hasBrowsers: boolean;
}

export const NOTHING_SEEN: Seen = {
  ...{ projects: [], channels: [], events: [] },
  hasBrowsers: false,
};

/** Names that strangers choose have no end. */
const MAX_SEEN = 200;

const withNames = (
  names: readonly string[],
  found: readonly (string | undefined)[],
): readonly string[] => {
  if (names.length >= MAX_SEEN) return names;
  const all = new Set([...names, ...found.filter((name) => name !== undefined)]);
  if (all.size === names.length) return names;
  return [...all].slice(0, MAX_SEEN).sort((a, b) => a.localeCompare(b));
};

/** Adds the names in these rows; the same object where there is none that is new. */
export const addSeen = (
  seen: Seen,
  rows: readonly Pick<Row, 'project' | 'channel' | 'event' | 'client'>[],
): Seen => {
  const namesIn = (names: readonly string[], of: 'project' | 'channel' | 'event') =>
    withNames(
      names,
      rows.map((row) => row[of]),
    );
  const next: Seen = {
    projects: namesIn(seen.projects, 'project'),
    channels: namesIn(seen.channels, 'channel'),
    events: namesIn(seen.events, 'event'),
    hasBrowsers: seen.hasBrowsers || rows.some(({ client }) => client !== undefined),
  };
  const names = Object.keys(next) as (keyof Seen)[];
  return names.every((name) => next[name] === seen[name]) ? seen : next;
};
