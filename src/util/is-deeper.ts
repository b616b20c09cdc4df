/** Levels of objects and lists that a body may have. Far deeper ones overflow the stacks of parsers and databases. */
export const MAX_LEVELS = 200;

/** Whether parsed JSON has more levels of objects and lists than this. */
export const isDeeper = (value: unknown, levels = MAX_LEVELS): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1)));
