import type { Profile } from './port.js';

/** The place of a profile in a list of them, for `after`. */
export const placeOf = ({ project, user_id }: Pick<Profile, 'project' | 'user_id'>): string =>
  JSON.stringify([project, user_id]);

/** Project and user of a place, or undefined where the text is none. */
export const readPlace = (text: string): readonly [string, string] | undefined => {
  try {
    const value = JSON.parse(text) as unknown;
    if (!Array.isArray(value) || value.length !== 2) return undefined;
    const [project, user] = value as unknown[];
    return typeof project === 'string' && typeof user === 'string' ? [project, user] : undefined;
  } catch {
    return undefined;
  }
};
