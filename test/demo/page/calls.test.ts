import { describe, expect, it } from 'vitest';
import {
  createCalls,
  sentenceOf,
  stationOf,
  tallyOf,
  verdictOf,
} from '../../../demo/page/calls.js';
import { resultOf } from '../../../demo/page/director.js';

/** Calls at a clock that stands at 1,000 until it is set. */
const begin = () => {
  const clock = { now: 1_000 };
  const calls = createCalls(() => clock.now);
  const add = (): string => {
    const id = calls.newId();
    calls.add(id, 'event', 'Paid');
    return id;
  };
  const one = (id: string) => calls.all().find((call) => call.id === id)!;
  return { clock, calls, add, one };
};

describe('the verdict on a call', () => {
  it('is the word of the service’s rows, whatever the page says', () => {
    const { calls, add, one } = begin();
    const id = add();
    calls.setFate(id, 'again', { detail: 'no answer', attempts: 1 });
    calls.store(id, 1_200);
    expect([verdictOf(one(id), 0), stationOf(one(id))]).toEqual(['once', 'service']);
    calls.store(id, 1_300);
    expect(verdictOf(one(id), 0)).toBe('twice');
  });

  it('is lost only when the rows were read after the service had taken it', () => {
    const { clock, calls, add, one } = begin();
    const id = add();
    clock.now = 2_000;
    calls.setFate(id, 'delivered');
    expect(verdictOf(one(id), 2_000)).toBe('waiting');
    expect(verdictOf(one(id), 2_001)).toBe('lost');
  });

  it('counts rows that were read before the call was known', () => {
    const { calls, one } = begin();
    calls.store('of-another-page', 900);
    calls.add('of-another-page', 'event', 'Paid');
    expect(verdictOf(one('of-another-page'), 0)).toBe('once');
  });
});

describe('the sentence', () => {
  it('adds up, whatever becomes of the calls', () => {
    const { calls, add } = begin();
    const [once, twice, dropped, unknown, lost] = Array.from({ length: 7 }, add) as [
      ...[string, string, string, string, string],
    ];
    calls.store(once, 1);
    calls.store(twice, 1);
    calls.store(twice, 2);
    calls.setFate(dropped, 'dropped', { detail: 'rejected', attempts: 1 });
    calls.setFate(unknown, 'unknown');
    calls.setFate(lost, 'delivered');
    const { called, ...rest } = tallyOf(calls.all(), 5_000);
    expect(called).toBe(7);
    expect(Object.values(rest).reduce((sum, count) => sum + count)).toBe(7);
    expect(sentenceOf({ called, ...rest })).toBe(
      '7 called = 1 stored once + 2 on the way + 1 dropped + 1 unknown + 1 lost + 1 stored twice',
    );
  });

  it('says nothing of what there is not', () => {
    const { calls, add } = begin();
    expect(sentenceOf(tallyOf([], 0))).toBe('Nothing called yet');
    const id = add();
    expect(sentenceOf(tallyOf(calls.all(), 0))).toBe('1 called = 0 stored once + 1 on the way');
    calls.store(id, 1);
    expect(sentenceOf(tallyOf(calls.all(), 0))).toBe('1 called = 1 stored once');
  });
});

describe('what a scene has come to', () => {
  it('is told by the time at which the last row arrived', () => {
    const { calls, add } = begin();
    const ids = [add(), add()];
    const since = { at: 1_000, what: 'it was back' };
    calls.store(ids[0]!, 1_400);
    expect(resultOf(calls.all(), 0, since)).toEqual({ tone: 'running', words: '1 of 2 so far' });
    calls.store(ids[1]!, 2_600);
    expect(resultOf(calls.all(), 0, since)).toEqual({
      ...{ tone: 'good', words: '2 of 2, 1.6 s after it was back' },
    });
    calls.store(ids[1]!, 2_700);
    expect(resultOf(calls.all(), 0, { at: 1_000, what: undefined })).toEqual({
      ...{ tone: 'bad', words: '1 of 2, 1 twice, in 1.7 s' },
    });
  });

  it('counts what was dropped apart', () => {
    const { calls, add } = begin();
    const ids = [add(), add()];
    const since = { at: 1_000, what: undefined };
    calls.setFate(ids[0]!, 'dropped', { detail: 'too-large' });
    calls.store(ids[1]!, 1_500);
    expect(resultOf(calls.all(), 0, since).words).toBe('1 of 2, 1 dropped, in 0.5 s');
    expect(resultOf(calls.all().slice(0, 1), 0, since).words).toBe('1 of 1 dropped');
  });
});
