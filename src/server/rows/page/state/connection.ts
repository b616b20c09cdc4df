import { createEventReader, type ServerEvent } from './read-events.js';
import { messageOf } from './service.js';

/**
 * What a person is told of the line to the service. `locked`: it asks for the read token. `silent`: it has given no sign of
 * life since then. `lost`: it is tried again at `retryAt`; with the status,
 * if the service has answered. `asleep`: the page is hidden, so it has closed the line.
 */
export type Connection =
  | { kind: 'opening' }
  | { kind: 'open' }
  | { kind: 'silent'; since: number }
  | { kind: 'asleep' }
  | { kind: 'locked'; status: number; why: string }
  | { kind: 'lost'; retryAt: number; why: string; status?: number };

interface ConnectionParts {
  /** Address of the feed. */
  url: () => string;
  onEvent: (event: ServerEvent) => void;
  onChange: (connection: Connection) => void;
  /** The clock of the service, as its answer tells it. */
  onServerTime: (ms: number) => void;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;
/** The service gives a sign of life each 2 s. A process without one stands still, or the line is dead. */
const SILENT_MS = 5_000;
/** Then the line is opened again. */
const SILENCE_MS = 40_000;

class Refusal extends Error {
  override name = 'Refusal' as const;
  constructor(
    readonly status: number,
    message: string,
    readonly waitMs: number | undefined,
  ) {
    super(message);
  }
}

const waitAskedFor = (response: Response): number | undefined => {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return seconds > 0 ? seconds * 1000 : undefined;
};

/**
 * Keeps a line to the feed open, and goes on behind the last event after a break. By `fetch` and not by `EventSource`,
 * which neither tells the status of an answer, nor when it tries again, nor that the line has gone silent.
 */
export const connect = (parts: ConnectionParts) => {
  let lastId: string | undefined;
  let failures = 0;
  let current = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const read = async (signal: AbortSignal, alive: () => void): Promise<void> => {
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (lastId !== undefined) headers['last-event-id'] = lastId;
    const response = await fetch(parts.url(), { headers, signal, cache: 'no-store' });
    if (!response.ok || !response.body) {
      throw new Refusal(response.status, await messageOf(response), waitAskedFor(response));
    }
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) parts.onServerTime(date);
    failures = 0;
    alive();
    parts.onChange({ kind: 'open' });
    const take = createEventReader((event) => {
      lastId = event.id ?? lastId;
      parts.onEvent(event);
    });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      alive();
      take(value);
    }
  };

  const fail = (error: unknown): void => {
    const refusal = error instanceof Refusal ? error : undefined;
    const { status, message: why = 'Lost the connection', waitMs: asked = 0 } = refusal ?? {};
    if (status === 401 || status === 403) return parts.onChange({ kind: 'locked', status, why });
    const wait = Math.max(asked, Math.min(FIRST_WAIT_MS * 2 ** failures++, LONGEST_WAIT_MS));
    const retryAt = Date.now() + wait;
    parts.onChange({ kind: 'lost', retryAt, why, ...(status && { status }) });
    timer = setTimeout(reopen, wait);
  };

  const open = async (): Promise<void> => {
    const controller = (current = new AbortController());
    let isSilent = false;
    let silent: ReturnType<typeof setTimeout> | undefined;
    const wait = (since: number): void => {
      silent = setTimeout(() => {
        isSilent = true;
        parts.onChange({ kind: 'silent', since });
        silent = setTimeout(() => controller.abort(), SILENCE_MS - SILENT_MS);
      }, SILENT_MS);
    };
    const alive = (): void => {
      clearTimeout(silent);
      if (isSilent) parts.onChange({ kind: 'open' });
      isSilent = false;
      wait(Date.now());
    };
    try {
      wait(Date.now());
      await read(controller.signal, alive);
      if (controller === current) fail(undefined);
    } catch (error) {
      if (controller === current) fail(error);
    } finally {
      clearTimeout(silent);
    }
  };

  const reopen = (): void => {
    clearTimeout(timer);
    parts.onChange({ kind: 'opening' });
    void open();
  };

  const stop = (): void => {
    clearTimeout(timer);
    const controller = current;
    current = new AbortController();
    controller.abort();
  };

  return {
    /** Opens a new line from nothing, as for other filters. */
    restart(): void {
      stop();
      [lastId, failures] = [undefined, 0];
      parts.onChange({ kind: 'opening' });
      void open();
    },
    /** Closes the line. The next one goes on behind the last event. */
    sleep(): void {
      stop();
      parts.onChange({ kind: 'asleep' });
    },
    /** Does not wait any longer. */
    retry: reopen,
  };
};
