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

type Outcome = ReturnType<typeof outcomeOf>;

const PAGES = [
  '<!doctype html><title>Log in</title>',
  '  \n<html></html>',
  '<?xml version="1.0"?>',
];
const TAKEN = [
  ...['{"success":true,"message":"ok"}', '{"success":true,"code":0}', '{"message":"ok"}'],
  ...['{"success":true,"message":"1 < 2"}', '{"success":', '{}', '[]', 'null', 'true', '"ok"'],
  ...['12', 'ok', '', '   '],
];
const REFUSED = [
  ...['{"success":false}', '{"success":false,"message":"no"}', '{"code":500}'],
  '{"code":400,"message":"Invalid request data"}',
];
const ANY = [...PAGES, ...TAKEN, ...REFUSED];

it.each<[outcome: Outcome, statuses: number[], bodies: string[]]>([
  ['delivered', [200, 201, 202, 204, 299], TAKEN],
  ['rejected', [200, 201, 202, 204, 299], REFUSED],
  // It comes from something in between.
  ['blocked', [200, 201, 202, 204, 299, 400, 409, 413, 422], PAGES],
  ['rejected', [400, 409, 413, 422], [...TAKEN, ...REFUSED]],
  ['retry', [0, 408, 425, 429, 500, 501, 502, 503, 504, 507, 520, 599], ANY],
  // The set-up is wrong.
  ['blocked', [100, 199, 300, 301, 302, 303, 304, 307, 308], ANY],
  ['blocked', [401, 402, 403, 404, 405, 406, 410, 415, 418, 451], ANY],
])('an answer is %s: %j', (outcome, statuses, bodies) => {
  for (const status of statuses) {
    for (const text of bodies)
      expect([status, text, outcomeOf(status, text)]).toEqual([status, text, outcome]);
  }
});

it('an answer has one of four outcomes, whatever it is, and no page of HTML is a delivery', () => {
  fc.assert(
    fc.property(fc.nat(1_000), body, (status, text) => {
      const outcome = outcomeOf(status, text);
      expect(OUTCOMES).toContain(outcome);
      const isTaken = status >= 200 && status < 300;
      if (outcome === 'rejected')
        expect(isTaken || [400, 409, 413, 422].includes(status)).toBe(true);
      if (outcome !== 'delivered') return;
      expect(isTaken).toBe(true);
      expect(text.trimStart()).not.toMatch(/^</);
      if (text.startsWith('{')) expect(text).not.toMatch(/^\{"success":false[,}]/);
    }),
    { numRuns: 500 },
  );
});

describe("a relay's answer", () => {
  const records = ['r0', 'r1', 'r2'].map((id): OutboxRecord => ({
    ...{ id, type: 'event', body: '{}', at: 0, attempts: 0 },
  }));
  /** What became of each record where the relay gives this answer. */
  const attemptsAt = async (status: number, text: string) => {
    const options = { relay: 'https://relay.test', project: 'p', channel: 'c' };
    const fetch = async () => new Response(text, { status });
    const settings = resolveOptions({ ...options, fetch }, 'https://site.test/', false);
    const how = { keepalive: false, controller: new AbortController(), isSilent: false };
    return (await createRelaySend(() => settings)(records, how))!;
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
