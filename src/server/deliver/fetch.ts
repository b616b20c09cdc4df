import { messageOf } from '../../util/errors.js';

/** What a relay gives to `fetch`. */
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
  /** If there is one, it is read in place of `text()`, 64 KiB at most. */
  body?: {
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
      cancel(): Promise<void>;
    };
  } | null;
}

/** The part of `fetch` that a relay uses; the global one fits, and so does something lighter. */
export type ServiceFetch = (url: string, request: ServiceRequest) => Promise<ServiceAnswer>;

/** How many bytes of an answer are read. Answers of a service are far shorter. */
export const MAX_ANSWER_BYTES = 65_536;

/** The beginning of an answer's body as text: `most` bytes, and what came together with the last of them. */
export const readStart = async (
  answer: ServiceAnswer,
  most = MAX_ANSWER_BYTES,
): Promise<string> => {
  const reader = answer.body?.getReader();
  if (!reader) return answer.text();
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  while (size < most) {
    const { done, value } = await reader.read();
    if (done || !value) return text + decoder.decode();
    size += value.byteLength;
    text += decoder.decode(value, { stream: true });
  }
  void reader.cancel().catch(() => {}); // the rest of the answer is not needed
  return text;
};

/** Why a request had no answer. The error of `fetch` says only that it failed. The reason is in its `cause`. */
export const causeOf = (error: unknown): string => {
  const causes: string[] = [];
  let next: unknown = error;
  while (next instanceof Error && causes.length < 3) {
    // If several addresses were tried, the error has a code and no message.
    const words = messageOf(next) || (next as { code?: unknown }).code;
    if (typeof words === 'string' && words) causes.push(words);
    next = next.cause;
  }
  return causes.join(': ') || messageOf(error);
};
