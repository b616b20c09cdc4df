import type { ErrorStatus } from './answers.js';

interface Limits {
  /** Bytes at the most, as they come and as inflated. */
  maxBytes: number;
  /** Milliseconds until the whole body must be there. */
  timeout: number;
}

export type Body = { kind: 'text'; text: string } | { kind: 'refused'; status: ErrorStatus };

type Bytes = Uint8Array<ArrayBuffer>;

const refused = (status: ErrorStatus): Body => ({ kind: 'refused', status });

/** Thrown by a counter. A stream may wrap what passes through it in an error of its own. */
class TooLarge extends Error {}

const createCounter = (maxBytes: number) => {
  let size = 0;
  return {
    add: (chunk: Bytes): void => {
      size += chunk.byteLength;
      if (size > maxBytes) throw new TooLarge();
    },
    isOver: () => size > maxBytes,
  };
};

type Counter = ReturnType<typeof createCounter>;

const counted = (counter: Counter): TransformStream<Bytes, Bytes> =>
  new TransformStream({
    transform(chunk, controller) {
      counter.add(chunk);
      controller.enqueue(chunk);
    },
  });

const readText = async (
  reader: ReadableStreamDefaultReader<Bytes>,
  counter: Counter,
): Promise<string> => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    counter.add(value);
    text += decoder.decode(value, { stream: true });
  }
};

/**
 * Reads a body that may lie about its length, never end, trickle, or be a bomb. What comes in is counted
 * as well as what it is inflated to: empty blocks of gzip inflate to nothing, for ever.
 */
export const readBody = async (
  { headers, body }: Request,
  { maxBytes, timeout }: Limits,
): Promise<Body> => {
  const encoding = headers.get('content-encoding')?.toLowerCase();
  if (encoding !== undefined && encoding !== 'gzip') return refused(415);
  if (Number(headers.get('content-length')) > maxBytes) return refused(413);
  if (!body) return refused(400);

  const raw = createCounter(maxBytes);
  const inflated = createCounter(maxBytes);
  const plain: ReadableStream<Bytes> = encoding
    ? body.pipeThrough(counted(raw)).pipeThrough(new DecompressionStream('gzip'))
    : body;
  const reader = plain.getReader();
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      isLate = true;
      reject(new Error('late'));
    }, timeout);
  });
  try {
    return { kind: 'text', text: await Promise.race([readText(reader, inflated), late]) };
  } catch {
    // Too much, too late, broken off, no gzip, or not UTF-8.
    return refused(raw.isOver() || inflated.isOver() ? 413 : isLate ? 408 : 400);
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => {}); // lets go of the rest; it may have failed already
  }
};
