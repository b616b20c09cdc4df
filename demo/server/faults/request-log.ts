/** One POST as it came in, whatever became of it. */
export interface LoggedRequest {
  n: number;
  /** When it had arrived whole, in milliseconds since the epoch. */
  at: number;
  path: string;
  /** The parsed body, or `null` when it is not JSON. */
  body: unknown;
  /** The status answered; 0 while there is no answer, and for good when it hung or was reset. */
  status: number;
  idempotency_key: string | null;
  authorization_ok: boolean;
  user_agent: string | null;
}

export type RequestLog = ReturnType<typeof createRequestLog>;

/** Shows what a client really sent: a repeat, too, and what was refused. */
export function createRequestLog() {
  let requests: LoggedRequest[] = [];
  return {
    /** The entry is live: set its `status` once it is known. */
    add(request: Omit<LoggedRequest, 'n' | 'at' | 'status'>): LoggedRequest {
      const entry = { n: requests.length + 1, at: Date.now(), ...request, status: 0 };
      requests.push(entry);
      return entry;
    },
    list: (): readonly LoggedRequest[] => requests,
    clear(): void {
      requests = [];
    },
  };
}
