import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outcomeOf } from '../../src/interface/outcome.js';
import { createRelaySend } from '../../src/client/delivery/send/relay.js';
import { resolveOptions } from '../../src/client/options.js';
import type { OutboxRecord } from '../../src/client/types.js';

const OUTCOMES = ['delivered', 'retry', 'blocked', 'rejected'];
const body = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc
    .record({ success: fc.jsonValue(), code: fc.jsonValue() }, { requiredKeys: [] })
    .map((value) => JSON.stringify(value)),
  fc.constantFrom('', ' <html>', '<', '{', 'null', '[]'),
);

const isPage = (text: string): boolean => text.trimStart().startsWith('<');

describe('the outcome of an answer', () => {
  it('is one of four: delivered for a 2xx that is neither a page nor an error, rejected for a fault of the record’s own', () => {
    fc.assert(
      fc.property(fc.nat(1_000), body, (status, text) => {
        const outcome = outcomeOf(status, text);
        expect(OUTCOMES).toContain(outcome);
        const isTaken = status >= 200 && status < 300;
        if (outcome === 'rejected')
          expect(isTaken || [400, 409, 413, 422].includes(status)).toBe(true);
        if (outcome !== 'delivered') return;
        expect(isTaken).toBe(true);
        expect(isPage(text)).toBe(false);
        if (text.startsWith('{')) expect(text).not.toMatch(/^\{"success":false[,}]/);
      }),
      { numRuns: 500 },
    );
  });

  it('outside of 2xx hangs on nothing of the body but whether it is a page of HTML', () => {
    const outside = fc.oneof(
      fc.integer({ min: 100, max: 199 }),
      fc.integer({ min: 300, max: 599 }),
    );
    fc.assert(
      fc.property(outside, body, body, (status, one, other) => {
        fc.pre(isPage(one) === isPage(other));
        expect(outcomeOf(status, one)).toBe(outcomeOf(status, other));
      }),
    );
  });
});

describe("a relay's answer", () => {
  const records = ['r0', 'r1', 'r2'].map((id): OutboxRecord => ({
    id,
    type: 'event',
    body: '{}',
    at: 0,
    attempts: 0,
  }));
  /** What became of each record where the relay gives this answer. */
  const attemptsAt = async (status: number, text: string) => {
    const options = { relay: 'https://relay.test', project: 'p', channel: 'c' };
    const fetch = async () => new Response(text, { status });
    const settings = resolveOptions({ ...options, fetch }, 'https://site.test/', false);
    const how = { keepalive: false, controller: new AbortController(), isSilent: false };
    return (await createRelaySend(
      () => settings,
      () => 0,
    )(records, how))!;
  };
  const result = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        id: fc.oneof(fc.constantFrom('r0', 'r1', 'r2'), fc.jsonValue()),
        outcome: fc.oneof(
          fc.constantFrom('delivered', 'accepted', 'retry', 'blocked', 'rejected', 'toString'),
          fc.jsonValue(),
        ),
        status: fc.jsonValue(),
        retry_after: fc.oneof(fc.double(), fc.jsonValue()),
      },
      { requiredKeys: [] },
    ),
  );
  const answer = fc.oneof(
    body,
    fc.array(result, { maxLength: 5 }).map((results) => JSON.stringify({ results })),
  );

  it('has one outcome for each record, and takes nothing for delivered that was not said to be', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(200, 200, 200, 202, 500), answer, async (status, text) => {
        const attempts = await attemptsAt(status, text);
        expect(attempts).toHaveLength(records.length);
        attempts.forEach((attempt, i) => {
          expect(OUTCOMES).toContain(attempt.outcome);
          expect(attempt.status).not.toBeNaN();
          expect(attempt.retryAfterMs).toBeGreaterThanOrEqual(0);
          expect(attempt.retryAfterMs).toBeLessThanOrEqual(3_600_000);
          if (attempt.outcome !== 'delivered') return;
          expect(text).toContain(`"${records[i]!.id}"`);
          expect(text).toMatch(/"(delivered|accepted)"/);
        });
      }),
      { numRuns: 500 },
    );
  });
});
