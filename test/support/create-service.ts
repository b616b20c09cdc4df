import { vi } from 'vitest';
import { createDirectSender } from '../../src/client/delivery/direct-sender.js';
import type { Attempt } from '../../src/client/delivery/sender.js';
import type { OutboxRecord } from '../../src/client/types.js';
import { makeRecord } from './make-record.js';

export type Fetch = (url: string, init: RequestInit & { keepalive: boolean }) => Promise<Response>;

/** A direct sender, and a `fetch` that answers it. */
export const createService = () => {
  const fetch = vi.fn<Fetch>(async () => new Response('{"success":true}'));
  const state = { wasLeft: false, isGoing: false, whenAsked: () => undefined as void };
  const settings = {
    baseUrl: 'https://in.test',
    token: 'tok',
    timeout: 30_000,
    idempotencyKey: false,
    fetch: fetch as unknown as typeof globalThis.fetch,
  };
  const sender = createDirectSender({
    settings: () => settings,
    now: Date.now,
    watchDeparture: () => async () => {
      state.whenAsked();
      return state.wasLeft;
    },
    isGoing: () => state.isGoing,
  });
  const sendRecord = (record: OutboxRecord, size: number, keepalive: boolean) =>
    sender.send([record], { size, keepalive }) as Promise<Attempt>;
  const send = (bytes = 10, keepalive = bytes <= sender.room()) =>
    sendRecord(makeRecord('id1', { bytes }), bytes, keepalive);
  const request = (n = 0) => fetch.mock.calls[n]!;
  return { fetch, state, settings, sender, send, sendRecord, request };
};
