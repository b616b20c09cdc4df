import type { HeldBody } from './admission.js';

interface Limits {
  /** Bytes at the most, as they come and as inflated. */
  maxBytes: number;
  /** Milliseconds until the whole body must be there. */
  timeout: number;
  /** Counts what is held of bodies. */
  held: Pick<HeldBody, 'add' | 'mayReserve'>;
}

/** Bytes of a body, where nothing else is asked for. A page sends 60,000 at the most. */
export const MAX_BODY_BYTES = 1_048_576;

/** Why a body is refused. */
export type BodyStatus = 400 | 408 | 413 | 415 | 429 | 503;

type Bytes = Uint8Array<ArrayBuffer>;

/** A body of up to this many bytes is read in one piece, if its length is told. */
const MAX_PIECE = 65_536;

class Refused extends Error {
  constructor(readonly status: BodyStatus) {
    super();
  }
}

const refuse = (status: BodyStatus | undefined): void => {
  if (status) throw new Refused(status);
};

/** In one piece, which costs a server much less than a stream. */
const readWhole = async (request: Request, { held, maxBytes }: Limits): Promise<string> => {
  const bytes = await request.arrayBuffer();
  if (bytes.byteLength > maxBytes) refuse(413);
  refuse(held.add(bytes.byteLength));
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
};

/** Passes pieces on, and refuses more of them than this many bytes. */
const bounded = (maxBytes: number): TransformStream<Bytes, Bytes> => {
  let size = 0;
  return new TransformStream({
    transform: (piece, controller) => {
      size += piece.byteLength;
      if (size > maxBytes) controller.error(new Refused(413));
      else controller.enqueue(piece);
    },
  });
};

/** Piece by piece, each counted as it comes. Ends when the signal says so. */
const readStream = async (
  body: ReadableStream<Bytes>,
  { held, maxBytes }: Limits,
  signal: AbortSignal,
): Promise<string> => {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {}); // it may have failed already
  signal.addEventListener('abort', cancel);
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let text = '';
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      size += value.byteLength;
      if (size > maxBytes) refuse(413);
      refuse(held.add(value.byteLength));
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    cancel();
  }
};

/**
 * The encodings of a body in one spelling, without `identity`, which changes nothing; '' where there is none.
 * https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1
 */
const encodingOf = (headers: Headers): string =>
  (headers.get('content-encoding') ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^x-gzip$/, 'gzip'))
    .filter((name) => name !== 'identity')
    .join();

const read = async (request: Request, limits: Limits, signal: AbortSignal): Promise<string> => {
  const { headers } = request;
  const encoding = encodingOf(headers);
  const length = headers.get('content-length');
  if (encoding && encoding !== 'gzip') refuse(415);
  if (Number(length) > limits.maxBytes) refuse(413);
  const isShort = !encoding && length !== null && Number(length) <= MAX_PIECE;
  if (isShort && limits.held.mayReserve(Number(length))) return readWhole(request, limits);
  const { body } = request;
  if (!body) throw new Refused(400);
  if (!encoding) return readStream(body, limits, signal);
  // Compressed bytes are counted as well: empty blocks of gzip inflate to nothing and can go on for ever.
  const inflated = body
    .pipeThrough(bounded(limits.maxBytes))
    .pipeThrough(new DecompressionStream('gzip'));
  return readStream(inflated, limits, signal);
};

/**
 * Reads a body, or answers with the status that refuses it. The body may lie about its length, never end, come very
 * slowly, or inflate to far more than was sent. One that breaks off, or is not gzip or not UTF-8, is a 400.
 */
export const readBody = async (request: Request, limits: Limits): Promise<string | BodyStatus> => {
  const end = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<BodyStatus>((resolve) => {
    timer = setTimeout(resolve, limits.timeout, 408);
  });
  try {
    return await Promise.race([read(request, limits, end.signal), late]);
  } catch (error) {
    return error instanceof Refused ? error.status : 400;
  } finally {
    clearTimeout(timer);
    end.abort();
  }
};
