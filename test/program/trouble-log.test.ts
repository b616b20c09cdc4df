import { expect, it } from 'vitest';
import { createTroubleLog } from '../../src/program/trouble-log.js';

const setUp = () => {
  const lines: string[] = [];
  const log = { info: () => {}, error: (line: string) => lines.push(line) };
  return { ...createTroubleLog(log, (message) => message.toUpperCase()), lines };
};

it('writes one line when a trouble begins and one when it is over, though two tell of it', () => {
  const { onError, onRecovery, lines } = setUp();
  onError({ kind: 'store', message: 'away' });
  onError({ kind: 'store', message: 'gone' });
  onError({ kind: 'token', message: 'gone' });
  onRecovery({ kind: 'store', lastedMs: 1_250 });
  expect(lines).toEqual(['store: AWAY', 'token: GONE']);
  onRecovery({ kind: 'store', lastedMs: 2_449 });
  onError({ kind: 'store', message: 'away' });
  expect(lines.slice(2)).toEqual(['store: over after 2.4 s', 'store: AWAY']);
});

it('writes a line for each fault that has no end', () => {
  const { onError, lines } = setUp();
  onError({ kind: 'unlisted', message: 'a' });
  onError({ kind: 'unlisted', message: 'b' });
  onError({ kind: 'fault', message: 'c' });
  onError({ kind: 'fault', message: 'd' });
  expect(lines).toEqual(['unlisted: A', 'unlisted: B', 'fault: C', 'fault: D']);
});
