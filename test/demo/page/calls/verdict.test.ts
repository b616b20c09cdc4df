import { expect, it } from 'vitest';
import type { Fate } from '../../../../demo/page/calls/call';
import { tallyOf, verdictOf } from '../../../../demo/page/calls/verdict';

const judge = (kind: Fate['kind'], stored: number, isRead = true, isCleared = false) =>
  verdictOf(
    { id: 'a', type: 'event', name: 'a', at: 0, fate: { kind, at: 0 } },
    { stored, isRead, isCleared },
  )?.kind;

it('counts what the database holds before what the page believes', () => {
  expect(judge('again', 1)).toBe('once');
  expect(judge('unknown', 1)).toBe('once');
  expect(judge('delivered', 2)).toBe('wrong');
});

it('calls a delivery wrong that a later look does not find', () => {
  expect(judge('delivered', 0, false)).toBe('waiting');
  expect(judge('delivered', 0, true)).toBe('wrong');
});

it('does not judge a delivery whose record was deleted with all others', () => {
  expect(judge('delivered', 0, true, true)).toBeUndefined();
  expect(judge('delivered', 1, true, true)).toBe('once');
  expect(judge('in flight', 0, true, true)).toBe('waiting');
});

it('tells apart what is on its way, dropped and unknown', () => {
  expect(judge('in flight', 0)).toBe('waiting');
  expect(judge('dropped', 0)).toBe('dropped');
  expect(judge('unknown', 0)).toBe('unknown');
});

it('adds up to the calls made', () => {
  const verdicts = (['once', 'once', 'wrong'] as const).map((kind) => ({ kind, words: '' }));
  expect(tallyOf(verdicts)).toMatchObject({ made: 3, once: 2, wrong: 1, waiting: 0 });
});
