interface Spoilt {
  toJSON?: unknown;
}

const BUILT_IN = (): Spoilt[] => [Array.prototype, Object.prototype];

/** `JSON.stringify` calls this after `toJSON`, with the object that holds the value. */
function undo(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const original = this[key];
  if (original instanceof Date) return Number.isFinite(+original) ? original.toISOString() : null;
  const method = (original as Spoilt | null | undefined)?.toJSON;
  return method && BUILT_IN().some(({ toJSON }) => toJSON === method) ? original : value;
}

/**
 * Writes JSON as the language defines it, even on a page whose libraries give all arrays or objects a `toJSON`: with
 * that of Prototype.js the array `[1, 2]` becomes the text `"[1, 2]"`. A `toJSON` of the object itself, or of its
 * class, counts.
 */
export const toJson = (value: unknown): string | undefined =>
  JSON.stringify(value, BUILT_IN().some(({ toJSON }) => toJSON) ? undo : undefined);
