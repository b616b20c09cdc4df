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
