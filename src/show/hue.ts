/** As many colours tell events and users apart; show.css has one for each. */
const HUES = 8;

/** The colour of a name: 0 to 7. The same name has the same one everywhere, so that the eye can follow it. */
export const hueOf = (name: string): number => {
  let hash = 0;
  for (let at = 0; at < name.length && at < 64; at++) {
    hash = (hash * 31 + name.charCodeAt(at)) | 0;
  }
  return ((hash % HUES) + HUES) % HUES;
};
