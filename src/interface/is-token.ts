/**
 * Whether an `Authorization: Bearer` header can carry the value. Anything else, such as a dash or a line break pasted
 * from a document, would make every request fail before it is sent, without an answer that tells why.
 */
export const isToken = (value: unknown): value is string =>
  typeof value === 'string' && /^[!-~]+$/.test(value);

export const TOKEN_WORDS = 'a string of ASCII characters without spaces';
