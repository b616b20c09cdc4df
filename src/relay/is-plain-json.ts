/** Levels of objects and arrays a body may have. */
const MAX_DEPTH = 32;

/** Keys that reach an object's prototype where somebody downstream copies without care. */
const UNSAFE: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Whether parsed JSON is neither too deep nor has keys that could change a prototype, at any level. */
export const isPlainJson = (value: unknown, levels = MAX_DEPTH): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  return (
    levels > 0 &&
    Object.entries(value).every(
      ([key, item]) => !UNSAFE.includes(key) && isPlainJson(item, levels - 1),
    )
  );
};
