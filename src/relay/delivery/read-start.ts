import type { ServiceAnswer } from '../service-fetch.js';

/** Bytes of an answer that are read: far more than the service has to say. */
export const MAX_ANSWER_BYTES = 65_536;

/** An answer's body as text, the first 64 KiB of it. */
export const readStart = async (answer: ServiceAnswer): Promise<string> => {
  const reader = answer.body?.getReader();
  if (!reader) return answer.text();
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  while (size < MAX_ANSWER_BYTES) {
    const { done, value } = await reader.read();
    if (done || !value) return text + decoder.decode();
    size += value.byteLength;
    text += decoder.decode(value, { stream: true });
  }
  void reader.cancel().catch(() => {}); // the connection is of no use any more
  return text;
};
