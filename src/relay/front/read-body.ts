import type { ErrorStatus } from './http.js';

interface Limits {
  /** Bytes at the most, as they come and as inflated. */
  maxBytes: number;
  /** Milliseconds until the whole body must be there. */
  timeout: number;
  /** Told of inflated bytes as they come. It may answer with a status that refuses them. */
  hold: (bytes: number) => ErrorStatus | undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

const readText = async (
  reader: ReadableStreamDefaultReader<Bytes>,
  count: (chunk: Bytes) => void,
): Promise<string> => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    count(value);
    text += decoder.decode(value, { stream: true });
  }
};

/**
 * Reads a body, or answers with the status that refuses it. The body may lie about its length, never end,
 * come very slowly, or inflate to far more than was sent. Compressed bytes are counted as well, because empty
 * blocks of gzip inflate to nothing and can go on for ever.
 */
export const readBody = async (
  { headers, body }: Request,
  { maxBytes, timeout, hold }: Limits,
): Promise<string | ErrorStatus> => {
  const encoding = headers.get('content-encoding');
  if (encoding && encoding !== 'gzip') return 415;
  if (Number(headers.get('content-length')) > maxBytes) return 413;
  if (!body) return 400;

  /** Fails when there is too much of it, when it breaks off, and when it is not gzip or not UTF-8. */
  let status: ErrorStatus = 400;
  const createCounter = () => {
    let size = 0;
    return (chunk: Bytes): void => {
      size += chunk.byteLength;
      if (size <= maxBytes) return;
      status = 413;
      throw new Error();
    };
  };
  const count = createCounter();
  const countAndHold = (chunk: Bytes): void => {
    count(chunk);
    const refusal = hold(chunk.byteLength);
    if (!refusal) return;
    status = refusal;
    throw new Error();
  };
  const counted = (count: (chunk: Bytes) => void) =>
    new TransformStream<Bytes, Bytes>({
      transform(chunk, controller) {
        count(chunk);
        controller.enqueue(chunk);
      },
    });
  const plain: ReadableStream<Bytes> = encoding
    ? body.pipeThrough(counted(createCounter())).pipeThrough(new DecompressionStream('gzip'))
    : body;
  const reader = plain.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<ErrorStatus>((resolve) => {
    timer = setTimeout(resolve, timeout, 408);
  });
  try {
    return await Promise.race([readText(reader, countAndHold), late]);
  } catch {
    return status;
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => {}); // lets go of the rest; it may have failed already
  }
};
