/** Makes what strangers have sent fit for a terminal, which obeys some signs, as text and inside of JSON. */
export const plain = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (sign) =>
    sign.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
