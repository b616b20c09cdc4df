import { refusalOf, type Refusal } from '../refusal.js';
import { busy, SMALL_BYTES, type HeldBody } from './held-bodies.js';

/** Bytes of a body at the most, both compressed and inflated. A page sends 60,000. */
export const MAX_BODY_BYTES = 1_048_576;
/** The whole body must have come within this time. */
const MAX_WAIT_MS = 10_000;

const UNREADABLE = refusalOf(
  'body',
  'The body is incomplete, not in the encoding that it names, or not UTF-8.',
);
const WRONG_ENCODING = refusalOf('body', 'The content encoding must be gzip, or none.', {
  status: 415,
});
const TOO_LARGE = refusalOf('size', `The body may have ${MAX_BODY_BYTES} bytes at the most.`);
/** Not a 408, after which Chromium sends the same body again by itself. */
const LATE = busy('The body did not come in time.');

type Bytes = Uint8Array<ArrayBuffer>;

class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super();
  }
}

const refuse = (refusal: Refusal | undefined): void => {
  if (refusal) throw new Refused(refusal);
};

/** Reads in one piece, which costs much less than a stream. */
const readWhole = async (request: Request, held: HeldBody): Promise<Bytes> => {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.length > MAX_BODY_BYTES) refuse(TOO_LARGE);
  refuse(held.grow(bytes.length));
  return bytes;
};

/** Reads piece by piece, counting each as it comes, until the signal ends it. */
const readPieces = async (
  body: ReadableStream<Bytes>,
  held: HeldBody,
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
      if (next > MAX_BODY_BYTES) refuse(TOO_LARGE);
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

const read = async (request: Request, held: HeldBody, signal: AbortSignal): Promise<string> => {
  const { headers } = request;
  const encoding = encodingOf(headers);
  const length = Number(headers.get('content-length') ?? NaN);
  if (encoding && encoding !== 'gzip') refuse(WRONG_ENCODING);
  if (length > MAX_BODY_BYTES) refuse(TOO_LARGE);
  refuse(held.grow(length || 0));
  let bytes: Bytes = new Uint8Array(0);
  if (length <= SMALL_BYTES) bytes = await readWhole(request, held);
  else if (request.body) bytes = await readPieces(request.body, held, signal);
  if (encoding) {
    const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    bytes = await readPieces(inflated, held, signal);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
};

/**
 * Reads a body, or returns why it is refused. The body may have a wrong length, never end, come very slowly, or inflate
 * to far more than was sent, and it may be cut off where others need its room.
 */
export const readBody = async (request: Request, held: HeldBody): Promise<string | Refusal> => {
  const end = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new Promise<Refusal>((resolve) => {
    const cutOff = (why: Refusal): void => {
      resolve(why);
      end.abort(); // only then: an abort costs more than to read a short body
    };
    held.cutOff = cutOff;
    timer = setTimeout(() => cutOff(LATE), MAX_WAIT_MS);
  });
  try {
    return await Promise.race([read(request, held, end.signal), ended]);
  } catch (error) {
    return error instanceof Refused ? error.refusal : UNREADABLE;
  } finally {
    clearTimeout(timer);
    held.cutOff = undefined;
  }
};
