/** The colour of a name in a list: 0 to 7, for each of which show.css has one. The eye can follow a name by it. */
export const hueOf = (name: string): number => {
  let hash = 0;
  for (let at = 0; at < name.length && at < 64; at++) {
    hash = Math.imul(hash, 31) + name.charCodeAt(at);
  }
  // The upper bits of a product with the golden ratio: short names that are alike differ in them.
  return Math.imul(hash, 0x9e3779b1) >>> 29;
};
