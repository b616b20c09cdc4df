import type { Line } from '../../../src/dev/inspector/lines.js';

export const NOW = 1_000_000;

/** The line of a record that was called and stored at this moment. */
export const lineOf = (name: string, more: Partial<Line> = {}): Line => ({
  ...{ id: name, type: 'event', name, body: '{}', calledAt: NOW, earlier: 0, storedAt: NOW },
  ...{ tries: [], due: 0, version: 0, ...more },
});
