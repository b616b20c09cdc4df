import type { HeldBody } from './admission.js';

interface Limits {
  /** Bytes at the most, both compressed and inflated. */
  maxBytes: number;
  /** Counts the bytes in memory. */
  held: Pick<HeldBody, 'grow' | 'mayReserve'>;
}

/** Bytes of a body at the most. A page sends 60,000. */
export const MAX_BODY_BYTES = 1_048_576;
/** The whole body must have come within this time. */
const MAX_WAIT_MS = 10_000;
/** A body of up to this many bytes is read in one piece, if its header says its length. */
const MAX_PIECE = 65_536;

/** Why a body is refused. */
export type BodyStatus = 400 | 408 | 413 | 415 | 429 | 503;

type Bytes = Uint8Array<ArrayBuffer>;

class Refused extends Error {
  constructor(readonly status: BodyStatus) {
    super();
  }
}

const refuse = (status: BodyStatus | undefined): void => {
  if (status) throw new Refused(status);
};

/** Reads in one piece, which costs much less than a stream. */
const readWhole = async (request: Request, { held, maxBytes }: Limits): Promise<Bytes> => {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.length > maxBytes) refuse(413);
  refuse(held.grow(bytes.length));
  return bytes;
};

/** Reads piece by piece, counting each as it comes, until the signal ends it. */
const readPieces = async (
  body: ReadableStream<Bytes>,
  { held, maxBytes }: Limits,
  signal: AbortSignal,
): Promise<Bytes> => {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {}); // it may have failed already
  signal.addEventListener('abort', cancel);
  try {
    // One buffer that grows: pieces of one byte each would take a hundred times as much memory.
    let bytes: Bytes = new Uint8Array(0);
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return bytes.subarray(0, size);
      const next = size + value.length;
      if (next > maxBytes) refuse(413);
      refuse(held.grow(next));
      if (next > bytes.length) {
        const larger = new Uint8Array(Math.max(next, 2 * bytes.length));
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(value, size);
      size = next;
    }
  } finally {
    cancel();
  }
};

/**
 * The encodings of a body in one spelling, without `identity`, which changes nothing; '' if there is none.
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
  const isShort = length !== null && Number(length) <= MAX_PIECE;
  const isWhole = isShort && limits.held.mayReserve(Number(length));
  let bytes: Bytes = new Uint8Array(0);
  if (isWhole) bytes = await readWhole(request, limits);
  else if (request.body) bytes = await readPieces(request.body, limits, signal);
  if (encoding) {
    const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    bytes = await readPieces(inflated, limits, signal);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
};

/**
 * Reads a body, or returns the status that refuses it. The body may have a wrong length, never end, come very slowly,
 * or inflate to far more than was sent. If it breaks off, or is not gzip or not UTF-8, the status is 400.
 */
export const readBody = async (request: Request, limits: Limits): Promise<string | BodyStatus> => {
  const end = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<BodyStatus>((resolve) => {
    timer = setTimeout(() => {
      resolve(408);
      end.abort(); // only then: an abort costs more than to read a short body
    }, MAX_WAIT_MS);
  });
  try {
    return await Promise.race([read(request, limits, end.signal), late]);
  } catch (error) {
    return error instanceof Refused ? error.status : 400;
  } finally {
    clearTimeout(timer);
  }
};
