let encoder: TextEncoder | undefined;

/** Bytes of a string in UTF-8. Most are plain ASCII, and finding that out takes less time than encoding them. */
export const byteLength = (text: string): number =>
  /[^\0-\x7f]/.test(text) ? (encoder ??= new TextEncoder()).encode(text).length : text.length;
