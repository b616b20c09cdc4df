/** FNV-1a, 32 bits: spreads lanes over partitions, the same in every process. http://www.isthe.com/chongo/tech/comp/fnv/ */
export const partitionOf = (lane: string, partitions: number): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < lane.length; i++) {
    hash = Math.imul(hash ^ lane.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0) % partitions;
};
