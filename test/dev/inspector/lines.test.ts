import { describe, expect, it } from 'vitest';
import type { KeptRecord } from '../../../src/client/outbox/parcel.js';
import { createLines } from '../../../src/dev/inspector/lines.js';
import { barOf, scaleOf, stateOf, stepsOf } from '../../../src/dev/inspector/line-words.js';

const CALLED = 1_000_000;

const recordOf = (event: string, more: Partial<KeptRecord> = {}): KeptRecord => ({
  ...{ id: event, type: 'event', at: CALLED, attempts: 0, body: JSON.stringify({ event }) },
  ...more,
});

/** Lines by a clock of the test's own. */
const createBench = () => {
  let time = CALLED;
  const lines = createLines(() => time);
  return {
    lines,
    pass: (ms: number) => (time += ms),
    words: () => lines.all().map((line) => `${line.name}: ${stateOf(line, time, line.due)[0]}`),
    /** The kinds of the stretches of the newest line. */
    bar: () => {
      const line = lines.all()[0]!;
      return barOf(line, { now: time, due: line.due, scale: 4_000 }).map(([kind]) => kind);
    },
    scale: () => scaleOf(lines.all(), time),
    /** Where the last stretch of the newest line ends, on a scale of a minute. */
    ends: () => {
      const [, from, width] = barOf(lines.all()[0]!, { now: time, due: 0, scale: 64_000 }).at(-1)!;
      return from + width;
    },
    steps: () => stepsOf(lines.all()[0]!).map(([what, after]) => `${what.trim()} ${after}`.trim()),
  };
};

describe('the line of a record', () => {
  it('tells its life, from the call through a failure to its delivery', () => {
    const { lines, pass, words, bar, steps } = createBench();
    const record = recordOf('Paid');
    lines.tell('record', record);
    expect(words()).toEqual(['Paid: waits']);
    expect(bar()).toEqual(['rest']);
    pass(20);
    lines.stored([record], true);
    pass(980);
    lines.tell('sent', { record: { ...record, attempts: 1 }, handoff: false });
    pass(120);
    expect(words()).toEqual(['Paid: on the wire for 120 ms']);
    const failed = { ...record, attempts: 1, due: CALLED + 2_520 };
    lines.tell('outcome', { record: failed, outcome: 'retry', status: 503 });
    expect(words()).toEqual(['Paid: 503, again in 1.4 s']);
    expect(bar()).toEqual(['rest', 'wire', 'trouble', 'ahead']);
    pass(1_400);
    lines.tell('sent', { record: { ...failed, attempts: 2 }, handoff: false });
    pass(80);
    lines.tell('outcome', {
      record: { ...failed, attempts: 2 },
      outcome: 'delivered',
      status: 200,
    });
    expect(words()).toEqual(['Paid: delivered in 2.6 s, attempt 2']);
    expect(bar()).toEqual(['rest', 'wire', 'trouble', 'wire', 'ok']);
    expect(steps()).toEqual([
      'called',
      'seen in the outbox +20 ms',
      'sent, attempt 1 +1 s',
      'answer: 503 +1.12 s',
      'sent, attempt 2 +2.52 s',
      'answer: 200 +2.6 s',
      'delivered +2.6 s',
    ]);
  });

  it('is named with its icon, unless that is a word', () => {
    const { lines, words } = createBench();
    for (const [id, icon] of ['👨‍👩‍👧‍👦', 'money-bag', undefined].entries())
      lines.tell('record', { ...recordOf(`${id}`), body: JSON.stringify({ event: 'Paid', icon }) });
    expect(words().sort()).toEqual(['Paid: waits', 'Paid: waits', '👨‍👩‍👧‍👦 Paid: waits']);
  });

  it('says why a record, or a call that never became one, was dropped', () => {
    const { lines, words } = createBench();
    const record = recordOf('Bad');
    lines.tell('sent', { record: { ...record, attempts: 1 }, handoff: false });
    lines.tell('drop', { reason: 'rejected', message: 'the relay: 422', record });
    lines.tell('outcome', { record, outcome: 'rejected', status: 422 });
    lines.tell('drop', { reason: 'invalid-call', message: 'wrong name' });
    expect(words()).toEqual([
      'a call: dropped (invalid-call: wrong name)',
      'Bad: dropped (rejected: the relay: 422)',
    ]);
  });

  it('counts the attempts from before the inspector was opened', () => {
    const { lines, pass, words } = createBench();
    lines.begin([
      { record: recordOf('Waits', { attempts: 3, due: CALLED + 5_000 }) },
      { record: recordOf('Runs', { attempts: 2 }), sentAt: CALLED - 200 },
    ]);
    pass(100);
    expect(words()).toEqual(['Runs: on the wire for 300 ms, attempt 2', 'Waits: again in 4.9 s']);
  });

  it('shows what an earlier page has left, and what another page has taken', () => {
    const { lines, words } = createBench();
    const [left, other] = [recordOf('Left'), recordOf('Taken', { at: CALLED + 1 })];
    lines.stored([left, other], true);
    lines.stored([left], true);
    expect(words()).toEqual(['Taken: another page has it now', 'Left: waits']);
  });

  it('keeps a thousand lines at most, and leaves out what has ended first', () => {
    const { lines } = createBench();
    for (let at = 0; at <= 1_000; at++) {
      const record = recordOf(`${at}`, { at: CALLED + at });
      lines.tell('record', record);
      if (at === 5 || at === 7)
        lines.tell('outcome', { record, outcome: 'delivered', status: 200 });
    }
    const names = lines.all().map(({ name }) => name);
    expect(names.length).toBeLessThanOrEqual(1_000);
    expect(names).not.toContain('5');
    expect(names).not.toContain('7');
    expect(names.slice(0, 2)).toEqual(['1000', '999']);
  });

  it('stands on the scale of all lines, which is at most about a minute long', () => {
    const { lines, pass, scale, ends } = createBench();
    const record = recordOf('Paid');
    lines.tell('record', record);
    expect(scale()).toBe(1_000);
    pass(2_500);
    expect(scale()).toBe(4_000);
    pass(10_000_000);
    lines.tell('outcome', { record, outcome: 'delivered', status: 200 });
    expect(scale()).toBe(64_000);
    expect(ends()).toBeLessThanOrEqual(64_000); // the mark of the end is seen
  });
});
