let encoder: TextEncoder | undefined;

/** Bytes of a text in UTF-8. Most texts are plain ASCII, and a test for that takes less time than to encode them. */
export const byteLength = (text: string): number =>
  /[^\0-\x7f]/.test(text) ? (encoder ??= new TextEncoder()).encode(text).length : text.length;
