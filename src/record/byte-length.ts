let encoder: TextEncoder | undefined;

/** Bytes of a string in UTF-8. */
export const byteLength = (text: string): number =>
  (encoder ??= new TextEncoder()).encode(text).length;
