import { expect, it, vi } from 'vitest';
import { REPORT_HOLDS, reportOf } from '../../../src/dev/inspector/copies.js';
import { createLines } from '../../../src/dev/inspector/lines.js';
import type { Status } from '../../../src/client/types.js';

it('puts no word of a refusal into a report, however many lines it has', () => {
  vi.stubGlobal('navigator', { userAgent: 'a browser' });
  const lines = createLines();
  const record = { id: '1', type: 'event', body: '{"event":"Paid"}', at: 1, attempts: 1 };
  const answer = JSON.stringify({ code: 400, message: 'ada@example.com is unknown' }, undefined, 2);
  const message = `https://in.example.com/v1/event: 400 ${answer}`;
  lines.tell('drop', { reason: 'rejected', message, record });
  const status = { userId: 'ada', dropped: { rejected: 1 } } as Status;
  const report = reportOf({
    ...{ status, options: () => [], destination: undefined, lines: lines.all() },
  });
  vi.unstubAllGlobals();
  expect(REPORT_HOLDS).toContain('no token, address, name, user or content');
  expect(report).not.toMatch(/example|ada|Paid/);
  expect(report).toMatch(/^- event, attempts 1 \(\): rejected$/m);
});
