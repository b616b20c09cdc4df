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
}

/** The part of `fetch` that a relay uses; the global one fits, and so does something lighter. */
export type ServiceFetch = (url: string, request: ServiceRequest) => Promise<ServiceAnswer>;
