import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect, type Connection } from '../../../src/server/rows/page/state/connection.js';

const NOW = Date.parse('2026-11-25T14:00:00.000Z');

type Answer = (signal: AbortSignal) => Response;
interface Init {
  headers: Record<string, string>;
  signal: AbortSignal;
}

/** A feed that answers one request after the other with these, and says nothing after the last. */
const line = (answers: readonly Answer[]) => {
  const asked: (string | null)[] = [];
  const seen: Connection[] = [];
  const events: string[] = [];
  const left = [...answers];
  const waits: number[] = [];
  vi.stubGlobal('fetch', (_url: string, { headers, signal }: Init) => {
    asked.push(headers['last-event-id'] ?? null);
    const next = left.shift();
    return next ? Promise.resolve(next(signal)) : new Promise(() => {});
  });
  const connection = connect({
    url: () => '/rows?format=sse',
    onEvent: ({ data }) => events.push(data),
    onChange: (change) => {
      seen.push(change);
      if (change.kind === 'lost') waits.push(change.retryAt - Date.now());
    },
    onServerTime: () => undefined,
  });
  connection.restart();
  return { ...connection, asked, waits, events, last: () => seen.at(-1) };
};
const stream = (text: string) => () => new Response(text);
const refusal = (status: number, headers: Record<string, string> = {}) => {
  const message = 'in words';
  return () => new Response(JSON.stringify({ code: status, message }), { status, headers });
};

/** Lets time pass until this holds. */
const comes = async (holds: () => boolean): Promise<void> => {
  for (let step = 0; step < 1000 && !holds(); step++) await vi.advanceTimersByTimeAsync(100);
  expect(holds()).toBe(true);
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('the line to the feed', () => {
  it('goes on behind the last event after a break', async () => {
    const { asked, waits, events, last } = line([stream('id: 7.2\ndata: a\n\n'), refusal(502)]);
    await comes(() => last()?.kind === 'lost');
    expect(events).toEqual(['a']);
    expect(last()).toMatchObject({ why: 'Lost the connection' });
    await comes(() => asked.length === 3);
    expect(asked).toEqual([null, '7.2', '7.2']);
    expect(waits).toEqual([1000, 2000]);
  });

  it('waits as long as the service asks, and longer each time', async () => {
    const { waits } = line([
      refusal(503, { 'retry-after': '20' }),
      ...Array.from({ length: 6 }, () => refusal(500)),
    ]);
    const wanted = [20, 2, 4, 8, 15, 15, 15].map((seconds) => seconds * 1000);
    await comes(() => waits.length === wanted.length);
    expect(waits).toEqual(wanted);
  });

  it.each([401, 403])('is locked by a %i, and does not ask again', async (status) => {
    const { asked, last } = line([refusal(status)]);
    await comes(() => last()?.kind === 'locked');
    expect(last()).toMatchObject({ status, why: `The service answered ${status}: in words` });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(1);
  });

  it('lets go of the line while it sleeps, and goes on behind the last event', async () => {
    let held: AbortSignal | undefined;
    const open: Answer = (signal) => {
      held = signal;
      return new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode('id: 7\ndata: a\n\n')),
        }),
      );
    };
    const { asked, events, last, sleep, retry } = line([open]);
    await comes(() => events.length === 1);
    sleep();
    expect([held!.aborted, last()]).toEqual([true, { kind: 'asleep' }]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toEqual([null]);
    retry();
    expect(asked).toEqual([null, '7']);
  });

  it('says after 5 s that the service gives no sign of life, and takes a silent line for a dead one', async () => {
    let say = (): void => undefined;
    const silent: Answer = (signal) =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            say = () => controller.enqueue(new TextEncoder().encode(': alive\n\n'));
            signal.addEventListener('abort', () => controller.error(signal.reason));
          },
        }),
      );
    const { last } = line([silent]);
    await comes(() => last()?.kind === 'open');
    await vi.advanceTimersByTimeAsync(4_700);
    expect(last()?.kind).toBe('open');
    const since = Date.now() - 4_700;
    await comes(() => last()?.kind === 'silent');
    expect((last() as Extract<Connection, { kind: 'silent' }>).since).toBeCloseTo(since, -3);
    say();
    await comes(() => last()?.kind === 'open');
    await vi.advanceTimersByTimeAsync(38_000);
    expect(last()?.kind).toBe('silent');
    await comes(() => last()?.kind === 'lost');
  });

  it('says so of a service that takes the question and does not answer', async () => {
    const { last } = line([]);
    await comes(() => last()?.kind === 'silent');
  });
});
