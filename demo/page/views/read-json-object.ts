type Read = { ok: true; value: Record<string, unknown> } | { ok: false; problem: string };

const WANTED = 'Write a JSON object, such as { "plan": "pro" }';

/** An object from the text of a field; an empty field is an empty object. */
export const readJsonObject = (text: string): Read => {
  if (text.trim() === '') return { ok: true, value: {} };
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { ok: true, value: value as Record<string, unknown> };
    }
    return { ok: false, problem: `${WANTED}.` };
  } catch (error) {
    return { ok: false, problem: `${WANTED}. ${(error as Error).message}.` };
  }
};
