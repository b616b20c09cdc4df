import type { ErrorStatus } from './http.js';

interface Limits {
  /** Bytes at the most, as they come and as inflated. */
  maxBytes: number;
  /** Milliseconds until the whole body must be there. */
  timeout: number;
  /** Told of inflated bytes as they come. It may answer with a status that refuses them. */
  hold: (bytes: number) => ErrorStatus | undefined;
}

/**
 * The encodings of a body in one spelling, without `identity`, which changes nothing; '' where there is none.
 * https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1
 */
const encodingsOf = (headers: Headers): string =>
  (headers.get('content-encoding') ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^x-gzip$/, 'gzip'))
    .filter((name) => name !== 'identity')
    .join();

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Reads a body, or answers with the status that refuses it. The body may lie about its length, never end,
 * come very slowly, or inflate to far more than was sent. Compressed bytes are counted as well, because empty
 * blocks of gzip inflate to nothing and can go on for ever.
 */
export const readBody = async (
  { headers, body }: Request,
  { maxBytes, timeout, hold }: Limits,
): Promise<string | ErrorStatus> => {
  const encodings = encodingsOf(headers);
  if (!['', 'gzip'].includes(encodings)) return 415;
  if (Number(headers.get('content-length')) > maxBytes) return 413;
  if (!body) return 400;

  /** That of a body that breaks off, or is not gzip or not UTF-8. */
  let status: ErrorStatus = 400;
  const refuse = (why: ErrorStatus): never => {
    status = why;
    throw new Error();
  };
  const createCount = () => {
    let size = 0;
    return (chunk: Bytes): void => {
      size += chunk.byteLength;
      if (size > maxBytes) refuse(413);
    };
  };
  const countSent = createCount();
  const count = createCount();
  const counted = new TransformStream<Bytes, Bytes>({
    transform(chunk, controller) {
      countSent(chunk);
      controller.enqueue(chunk);
    },
  });
  const plain: ReadableStream<Bytes> = encodings
    ? body.pipeThrough(counted).pipeThrough(new DecompressionStream('gzip'))
    : body;
  const reader = plain.getReader();

  const read = async (): Promise<string> => {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      count(value);
      const refusal = hold(value.byteLength);
      if (refusal) refuse(refusal);
      text += decoder.decode(value, { stream: true });
    }
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<ErrorStatus>((resolve) => {
    timer = setTimeout(resolve, timeout, 408);
  });
  try {
    return await Promise.race([read(), late]);
  } catch {
    return status;
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => {}); // lets go of the rest; it may have failed already
  }
};
