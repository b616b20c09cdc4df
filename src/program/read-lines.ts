import { once } from 'node:events';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Line } from '../server/store/import-rows.js';

const NEWLINE = 0x0a;
/** https://www.rfc-editor.org/rfc/rfc1952#page-6 */
const GZIP = [0x1f, 0x8b];

/** The bytes of a stream, unpacked if they are gzipped. Rejects if the stream cannot be opened. */
export const unpacked = async (stream: Readable): Promise<Readable> => {
  await once(stream, 'readable');
  const head = stream.read(GZIP.length) as Buffer | null;
  if (head) stream.unshift(head);
  const isGzip = GZIP.every((byte, index) => head?.[index] === byte);
  return isGzip ? pipeline(stream, createGunzip(), () => {}) : stream; // the reader of the lines gets the error
};

/** Reads lines of UTF-8 that are not empty. Of one that is longer than `maxBytes` only its number is kept. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let number = 0;
  let pieces: Buffer[] = [];
  let bytes = 0;

  const add = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes <= maxBytes) pieces.push(piece);
    else pieces = [];
  };
  const endLine = (): Line | undefined => {
    number++;
    const [line, length] = [pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), bytes];
    pieces = [];
    bytes = 0;
    if (length > maxBytes) return { number, text: '', fault: `it has more than ${maxBytes} bytes` };
    try {
      const text = decoder.decode(line);
      return text.trim() ? { number, text } : undefined;
    } catch {
      return { number, text: '', fault: 'it is not UTF-8' };
    }
  };

  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      const line = endLine();
      if (line) yield line;
      start = end + 1;
    }
    add(chunk.subarray(start));
  }
  const last = endLine();
  if (last) yield last;
}
