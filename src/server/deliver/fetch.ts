import { messageOf } from '../../interface/errors.js';

/** What a relay asks of `fetch`. */
export interface ServiceRequest {
  method: 'POST';
  headers: Record<string, string>;
  body: string;
  redirect: 'manual';
  signal: AbortSignal;
}

/** What a relay reads of a `Response`. */
export interface ServiceAnswer {
  status: number;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
  /** Where there is one it is read in place of `text()`, and no further than 64 KiB. */
  body?: {
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
      cancel(): Promise<void>;
    };
  } | null;
}

/** The part of `fetch` that a relay uses; the global one fits, and so does something lighter. */
export type ServiceFetch = (url: string, request: ServiceRequest) => Promise<ServiceAnswer>;

/** How many bytes of an answer are read: far more than the service has to say. */
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

/**
 * Why a request had no answer. The error of `fetch` says only that it failed; the errors in its `cause` say
 * why.
 */
export const causeOf = (error: unknown): string => {
  const causes: string[] = [];
  let next: unknown = error;
  while (next instanceof Error && causes.length < 3) {
    // When several addresses were tried, the error has a code and no message.
    const words = messageOf(next) || (next as { code?: unknown }).code;
    if (typeof words === 'string' && words) causes.push(words);
    next = next.cause;
  }
  return causes.join(': ') || messageOf(error);
};
