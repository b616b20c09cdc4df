/** Levels of objects and arrays a body may have. */
const MAX_DEPTH = 32;
/** Bytes of the id of a user: a relay keeps it for longer than the record, as a part of keys. */
export const MAX_USER_BYTES = 1_024;

/**
 * Whether parsed JSON is neither too deep nor has a key `__proto__`, at any level: whoever copies such an
 * object key by key changes its prototype. Any other key is ordinary data, `constructor` too.
 */
export const isPlainJson = (value: unknown, levels = MAX_DEPTH): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  return (
    levels > 0 &&
    Object.entries(value).every(
      ([key, item]) => key !== '__proto__' && isPlainJson(item, levels - 1),
    )
  );
};
