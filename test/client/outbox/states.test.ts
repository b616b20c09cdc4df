import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  moveParcel,
  moveRecord,
  PARCEL_STEPS,
  RECORD_STEPS,
} from '../../../src/client/outbox/states.js';

describe('a record', () => {
  it('is named before it is sent, and waits again when it fails', () => {
    const record = { state: 'waiting' as const } as Parameters<typeof moveRecord>[0];
    for (const verb of ['name', 'confirm', 'send', 'fail'] as const) moveRecord(record, verb);
    expect(record.state).toBe('waiting');
  });

  it('stays where it is on a step that its state does not know', () => {
    const record = { state: 'done' } as Parameters<typeof moveRecord>[0];
    for (const verb of ['name', 'confirm', 'withdraw', 'send', 'tie', 'fail', 'finish'] as const) {
      expect(moveRecord(record, verb)).toBe(false);
    }
    expect(record.state).toBe('done');
  });
});

describe('a parcel', () => {
  it('that is gone comes back as another one only', () => {
    const parcel = { state: 'gone' } as Parameters<typeof moveParcel>[0];
    for (const verb of ['write', 'confirm', 'part'] as const) {
      expect(moveParcel(parcel, verb)).toBe(false);
    }
  });
});

it.each([
  ['record', RECORD_STEPS, 'waiting'],
  ['parcel', PARCEL_STEPS, 'new'],
] as const)(
  'every state of a %s can be reached, and every step leads to one',
  (_, steps, first) => {
    const table: Record<string, Record<string, string>> = steps;
    const reached = new Set<string>([first]);
    for (const state of reached) for (const next of Object.values(table[state]!)) reached.add(next);
    expect([...reached].sort()).toEqual(Object.keys(table).sort());
  },
);

it.each([
  ['record', RECORD_STEPS],
  ['parcel', PARCEL_STEPS],
] as const)('ARCHITECTURE.md shows the states and steps of a %s as they are', (name, steps) => {
  const table: Record<string, Record<string, string>> = steps;
  const lines = readFileSync('ARCHITECTURE.md', 'utf8').split('\n');
  const cellsOf = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const at = lines.findIndex((line) => cellsOf(line)[0] === name && line.includes('`'));
  const verbs = cellsOf(lines[at]!).slice(1);
  const shown: typeof table = {};
  for (const line of lines.slice(at + 2)) {
    if (!line.startsWith('|')) break;
    const [state, ...cells] = cellsOf(line).map((cell) => /`([^`]*)`/.exec(cell)?.[1]);
    shown[state!] = {};
    cells.forEach((next, i) => {
      if (next) shown[state!]![verbs[i]!.replaceAll('`', '')] = next;
    });
  }
  expect(shown).toEqual(table);
});
